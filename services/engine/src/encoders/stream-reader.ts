/** Reads the stream of a rendition, as its packager finds it. */
export type StreamReader = {
  sample: SampleReader;
  /** Null for a codec that is not packed in transport streams. */
  elementary: ElementaryReader | null;
};

/** Reads the stream of a codec that every packaging carries. */
export type PlainStreamReader = StreamReader & { elementary: ElementaryReader };

/** Reads an elementary stream of a transport stream. */
export type ElementaryReader = {
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
  /** Seconds of each frame of a stream of audio. Absent for video. */
  frameSeconds?: (stream: Buffer) => number;
};

/** Reads samples of MP4, whose decoder is configured by the initialization section (ISO/IEC 14496-12 §8.5.2). */
export type SampleReader = {
  isAudio: boolean;
  /** The type of the box of the sample entry that configures the decoder. */
  configurationBox: string;
  /**
   * The RFC 6381 codec string. Throws if the content of that box does not say the codec.
   *
   * @param colour the content of the box `colr` of the sample entry, if there is one
   */
  codecString: (configuration: Buffer, colour?: Buffer) => string;
  /** Whether decoding can start at a sample. */
  isDecodable: (sample: Buffer) => boolean;
  /** The configuration that a stream with this first sample needs, if that of the muxer may be another one. Throws if the sample does not say it. */
  completed?: (configuration: Buffer, first: Buffer) => Buffer;
  /**
   * Tells whether a sample of a stream copy needs that configuration alone: one set of parameters, and none that the sample brings along.
   *
   * @param ofMuxer the configuration before it was completed
   */
  isConfigured: (configuration: Buffer, ofMuxer: Buffer) => (sample: Buffer) => boolean;
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
