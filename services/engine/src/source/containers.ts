/** The traits of a container format that the engine depends on. */
export type ContainerTraits = {
  /** Names of ffmpeg's demuxers for `-format_whitelist`. */
  demuxers: readonly string[];
  /**
   * Where the declared duration of a track comes from:
   * - `track`: the header of the track.
   * - `index`: the index of its frames. Fragmented files have no index.
   * - `frame_count`: the declared number of frames.
   * - `file`: the header declares only the duration of the whole file. ffprobe's duration of a track is an estimate.
   */
  duration: 'track' | 'index' | 'frame_count' | 'file';
  /** Whether edit lists hide parts of tracks. ffmpeg gives packets before the first edit a time below zero. */
  hasEditLists: boolean;
  /** Whether timestamps may restart in the middle of a file: a discontinuity, or the next link of chained Ogg. ffmpeg corrects that. */
  clockMayRestart: boolean;
  /** Whether the tags of a track may change in the middle of a file, as in chained Ogg. */
  tagsMayChange: boolean;
  /** Whether the video may change between progressive and interlaced, as in recordings of television. */
  scanTypeMayChange: boolean;
  /** Whether one header describes a track for the whole file. A stream copy requires that. */
  allowsCopy: boolean;
  /**
   * How ffmpeg finds a second of the file, for a run that begins in the middle:
   * - `index`: from an index of the packets.
   * - `search`: by reading timestamps in different places. It ends near that second.
   * Null: no run begins in the middle.
   */
  seek: 'index' | 'search' | null;
  /** Whether the format has no video. It is then read only if sound alone is accepted. */
  isSound: boolean;
  /** Whether a run in the middle reads only the index, the beginning of the media data, and the packets that it needs. */
  allowsParts: boolean;
};

const USUAL = {
  duration: 'track',
  hasEditLists: false,
  clockMayRestart: false,
  tagsMayChange: false,
  scanTypeMayChange: false,
  allowsCopy: false,
  seek: null,
  isSound: false,
  allowsParts: false,
} as const;

/** ffprobe estimates the duration of some of these files from their first packets, so it does not count as declared. */
const SOUND = { ...USUAL, isSound: true } as const;

const MP4: ContainerTraits = {
  ...USUAL,
  demuxers: ['mov'],
  duration: 'index',
  hasEditLists: true,
  allowsCopy: true,
  seek: 'index',
  allowsParts: true,
};

/** The accepted containers. They contain their media. Formats that only refer to other files are not accepted. */
const CONTAINERS: Record<string, ContainerTraits> = {
  mp4: MP4,
  mov: MP4,
  matroska: {
    ...USUAL,
    demuxers: ['matroska', 'webm'],
    duration: 'file',
    scanTypeMayChange: true,
    allowsCopy: true,
    seek: 'index',
  },
  mpegts: {
    ...USUAL,
    demuxers: ['mpegts'],
    clockMayRestart: true,
    scanTypeMayChange: true,
    seek: 'search',
  },
  mpeg: { ...USUAL, demuxers: ['mpeg'], clockMayRestart: true, scanTypeMayChange: true },
  avi: { ...USUAL, demuxers: ['avi'], duration: 'frame_count' },
  flv: { ...USUAL, demuxers: ['flv'], duration: 'file' },
  ogg: { ...USUAL, demuxers: ['ogg'], clockMayRestart: true, tagsMayChange: true },
  asf: { ...USUAL, demuxers: ['asf'] },
  mxf: { ...USUAL, demuxers: ['mxf'] },
  mp3: { ...SOUND, demuxers: ['mp3'] },
  /** AAC in ADTS. */
  aac: { ...SOUND, demuxers: ['aac'] },
  wav: { ...SOUND, demuxers: ['wav'], duration: 'file' },
  aiff: { ...SOUND, demuxers: ['aiff'], duration: 'file' },
  flac: { ...SOUND, demuxers: ['flac'], duration: 'file' },
  amr: { ...SOUND, demuxers: ['amr'] },
};

function demuxersOf(containers: readonly ContainerTraits[]): string[] {
  return [...new Set(containers.flatMap(({ demuxers }) => demuxers))];
}

/** Names of ffmpeg's demuxers for the accepted containers: those that can have video, and those of sound. */
export const VIDEO_DEMUXERS = demuxersOf(Object.values(CONTAINERS).filter(({ isSound }) => !isSound));
export const SOUND_DEMUXERS = demuxersOf(Object.values(CONTAINERS).filter(({ isSound }) => isSound));

/** The traits of an accepted container. Throws for any other; ffprobe has refused it before. */
export function containerTraits(container: string): ContainerTraits {
  const traits = CONTAINERS[container];
  if (!traits) throw new Error(`Unknown container ${container}`);
  return traits;
}
