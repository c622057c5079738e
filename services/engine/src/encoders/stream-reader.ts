/** Reads the elementary stream of a segment, as its packager finds it. */
export type StreamReader = {
  /** The RFC 6381 codec string, from the beginning of a stream. Throws if it does not say the codec. */
  codecString: (stream: Buffer) => string;
  /** Whether decoding can start at the beginning of a stream. */
  isDecodable: (stream: Buffer) => boolean;
  /** Finds what configures a decoder. */
  configuration: () => StreamConfiguration;
  /**
   * The duration of an access unit in seconds. Throws an IncompleteUnitError. Absent for video, where an access unit is one frame.
   */
  duration?: (unit: Buffer) => number;
};

/** Finds what configures a decoder in the bytes of a stream. */
export interface StreamConfiguration {
  /** Adds the next bytes of the stream. `beginsUnit` is true for the first bytes of an access unit. */
  push(bytes: Buffer, beginsUnit: boolean): void;
  /** The different configurations so far, at most two. */
  readonly found: ReadonlySet<string>;
}

/** The last frame of an access unit is incomplete. */
export class IncompleteUnitError extends Error {
  override name = 'IncompleteUnitError';
}
