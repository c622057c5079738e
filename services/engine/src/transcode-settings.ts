import type { MaxRates } from './plan/ladder.ts';

/** How ffmpeg is kept from the rest of the machine. `auto`: by bubblewrap where it works, else by Landlock. */
export const SANDBOXES = ['auto', 'bubblewrap', 'landlock', 'none'] as const;
export type Sandbox = (typeof SANDBOXES)[number];

/** What one source may cost. */
export type TranscodeLimits = {
  /** Longest video accepted. */
  maxDurationSeconds: number;
  /** Time the first look at a file may take. */
  probeSeconds: number;
  /** Time reading through a file's packets may take. */
  scanSeconds: number;
  /** Time an encode may take: a fixed part and so many seconds for each second of video, up to a maximum. */
  encodeSeconds: { fixed: number; perSecondOfVideo: number; max: number };
  /** An encode that writes nothing new for so long is taken for hung. */
  stallSeconds: number;
  /** RAM one ffmpeg may hold. */
  memoryBytes: number;
  /** Address space of one ffmpeg. With many threads it reserves several times what it holds. */
  addressSpaceBytes: number;
  /** Address space of one ffprobe, which has one thread and holds the index of the file and a few frames. */
  probeMemoryBytes: number;
  /** CPU time of one ffmpeg. */
  cpuSeconds: number;
  /** Largest single file ffmpeg may write. */
  fileBytes: number;
  /** Disk that must stay free besides what jobs are expected to need, unless it is that of the objects. */
  spareDiskBytes: number;
  /** A video that found no engine with the disk for it for so long fails. */
  noRoomSeconds: number;
};

export type TranscodeSettings = {
  /** Videos transcoded at the same time. */
  slots: number;
  /** A directory of this engine alone. What it finds there at its start is left over, and removed. */
  workDir: string;
  sandbox: Sandbox;
  /** x264 preset, the same for every rung. */
  preset: string;
  maxRates: MaxRates;
  /** Threads of the decoder, of the filters, and of each encoder. */
  threads: number;
  limits: TranscodeLimits;
};

/** Limits that fit every video the service is meant for. */
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
