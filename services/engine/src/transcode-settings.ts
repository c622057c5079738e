import type { Hardware } from '@framelane/contracts/hardware';
import type { MaxRates } from './plan/ladder.ts';
import type { RecognizerSettings } from './recognizers/recognizer-settings.ts';

/** How ffmpeg is isolated. `auto` uses bubblewrap if it works, else Landlock. */
export const SANDBOXES = ['auto', 'bubblewrap', 'landlock', 'none'] as const;
export type Sandbox = (typeof SANDBOXES)[number];

/** Limits for one source. */
export type TranscodeLimits = {
  /** Maximum duration of a video. */
  maxDurationSeconds: number;
  /** Time limit for each run of ffprobe, except the one that reads all packets. */
  probeSeconds: number;
  /** Time limit for reading all packets of a file, and again for reading all its text tracks. */
  scanSeconds: number;
  /** Time limit for an encode: `fixed` plus `perSecondOfVideo` for each second of video, at most `max`. */
  encodeSeconds: { fixed: number; perSecondOfVideo: number; max: number };
  /** An encode without progress for this time is killed. */
  stallSeconds: number;
  /** Resident memory of one ffmpeg. */
  memoryBytes: number;
  /** Address space of one ffmpeg. With many threads, ffmpeg reserves several times its resident memory. */
  addressSpaceBytes: number;
  /** Address space of one ffprobe, which has one thread, and holds the index of the file and a few frames. */
  probeMemoryBytes: number;
  /** CPU time of one ffmpeg. */
  cpuSeconds: number;
  /** Size limit for each file that ffmpeg writes. */
  fileBytes: number;
  /** Disk that must stay free beside the reservations of jobs. Does not apply if jobs share the disk of the objects. */
  reservedDiskBytes: number;
};

export type TranscodeSettings = {
  /** Number of videos transcoded at the same time. */
  slots: number;
  /** A directory for this engine only. At its start the engine removes the content. */
  workDir: string;
  sandbox: Sandbox;
  /** The preset of all encoders. */
  preset: string;
  maxRates: MaxRates;
  /** Whether audio tracks with 5.1 also get a rendition in 5.1. */
  surround: boolean;
  /** Whether renditions in other codecs than H.264 have 10 bits a sample, if the source has more than 8 and standard range. */
  tenBit: boolean;
  /** Whether the I-frames of the lowest rendition are stored, for scrubbing. */
  iFrames: boolean;
  /** Threads of the decoder, of the filters, and of each encoder. */
  threads: number;
  /** The device that encodes video, and its interface; undefined for software. */
  hardware?: { kind: Hardware; device: string } | undefined;
  /** What recognises speech; undefined if nothing does. */
  recognizer?: RecognizerSettings | undefined;
  limits: TranscodeLimits;
};

/** Limits that every accepted video can meet. */
export const DEFAULT_TRANSCODE_LIMITS: TranscodeLimits = {
  maxDurationSeconds: 12 * 3600,
  probeSeconds: 30,
  scanSeconds: 900,
  encodeSeconds: { fixed: 300, perSecondOfVideo: 30, max: 2 * 24 * 3600 },
  stallSeconds: 120,
  memoryBytes: 8 * 1024 ** 3,
  addressSpaceBytes: 32 * 1024 ** 3,
  probeMemoryBytes: 4 * 1024 ** 3,
  cpuSeconds: 7 * 24 * 3600,
  fileBytes: 512 * 1024 ** 2,
  reservedDiskBytes: 1024 ** 3,
};
