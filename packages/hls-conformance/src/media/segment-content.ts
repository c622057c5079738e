import type { AudioContent } from './audio-track.ts';
import type { VideoContent } from './video-track.ts';

/** Continuity counters of one packet identifier in a segment. */
export type Counters = { pid: number; first: number; last: number; breaks: number };

/** What only transport streams have. */
export type TransportContent = {
  /** Whether there is a program association table. */
  hasPat: boolean;
  /** Whether a program map table precedes all video and audio. */
  hasPmt: boolean;
  /** Packet identifiers of tables whose checksum is wrong. */
  damagedTables: number[];
  counters: Counters[];
};

/** What only fragmented MP4 has. */
export type FragmentsContent = {
  /** How its boxes break the rules of HLS. */
  violations: string[];
  /** The type of the sample entry of the video, e.g. `hvc1`; null without video. */
  videoEntry: string | null;
};

/** The measurements of a segment, up to the first error. */
export type SegmentContent = {
  /** Why it could not be read to its end; null if it was. */
  damage: string | null;
  /** Null for fragmented MP4. */
  transport: TransportContent | null;
  /** Null for a transport stream. */
  fragments: FragmentsContent | null;
  /**
   * Whether the first block of the segment is damaged, and the next one is not. Decryption with a wrong initialization vector (IV) damages only
   * the first block.
   */
  beginsDamaged: boolean;
  video: VideoContent | null;
  /** Null also if `damage` is not null. */
  audio: AudioContent | null;
  /** Types of the streams that are not read: numbers in transport streams, four characters in MP4. */
  otherStreamTypes: (number | string)[];
};

/** Whether the measurements include all frames: the segment could be read to its end, and no frame precedes its tables. */
export function isWhole({ damage, transport }: SegmentContent): boolean {
  return damage === null && (transport === null || (transport.hasPat && transport.hasPmt));
}
