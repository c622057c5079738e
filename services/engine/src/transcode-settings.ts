import type { MaxRates } from './plan/ladder.ts';

/** How ffmpeg is isolated from the machine. `auto` uses bubblewrap if it works, else Landlock. */
export const SANDBOXES = ['auto', 'bubblewrap', 'landlock', 'none'] as const;
export type Sandbox = (typeof SANDBOXES)[number];

/** Limits for the transcode of one source. */
export type TranscodeLimits = {
  /** Maximum duration of a video. */
  maxDurationSeconds: number;
  /** Timeout for ffprobe to describe a file. */
  probeSeconds: number;
  /** Timeout for ffprobe to scan the packets of a file. */
  scanSeconds: number;
  /** Timeout of an encode: a fixed part plus a number of seconds for each second of video, up to a maximum. */
  encodeSeconds: { fixed: number; perSecondOfVideo: number; max: number };
  /** An encode without a new frame for this long counts as hung. */
  stallSeconds: number;
  /** Maximum RAM of one ffmpeg. */
  memoryBytes: number;
  /** Maximum address space of one ffmpeg. With many threads, it reserves several times the RAM it uses. */
  addressSpaceBytes: number;
  /** Maximum address space of one ffprobe. It has one thread and holds the index of the file and a few frames. */
  probeMemoryBytes: number;
  /** Maximum CPU time of one ffmpeg. */
  cpuSeconds: number;
  /** Maximum size of one file that ffmpeg writes. */
  fileBytes: number;
  /** Disk space to keep free in the work directory beyond what jobs need, unless the objects are on the same disk. */
  spareDiskBytes: number;
  /** A video fails after waiting this long for an engine with enough disk space. */
  noRoomSeconds: number;
};

export type TranscodeSettings = {
  /** Number of videos transcoded at the same time. */
  slots: number;
  /** A directory that only this engine uses. The engine empties it when it starts. */
  workDir: string;
  sandbox: Sandbox;
  /** The x264 preset of all renditions. */
  preset: string;
  maxRates: MaxRates;
  /** Threads of the decoder, of the filters, and of each encoder. */
  threads: number;
  limits: TranscodeLimits;
};

/** Limits that suit every video the service is made for. */
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
  spareDiskBytes: 1024 ** 3,
  noRoomSeconds: 24 * 3600,
};
