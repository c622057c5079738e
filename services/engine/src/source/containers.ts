/** What the engine has to know of a family of containers. */
export type ContainerTraits = {
  /** ffmpeg's demuxers, as its list of allowed formats names them. */
  demuxers: readonly string[];
  /**
   * What declares how long a track is: its own header (`track`), its header unless the file consists of fragments, which
   * have no index (`index`), or its number of frames (`frame_count`). With `file`, the header declares the duration of the
   * whole file, and ffprobe guesses that of a track.
   */
  duration: 'track' | 'index' | 'frame_count' | 'file';
  /** Whether the clock may start over in the middle of a file (ISO/IEC 13818-1), which ffmpeg corrects. */
  clockMayBreak: boolean;
  /** Whether recordings of television may change between progressive and interlaced video. */
  scanTypeMayChange: boolean;
  /** Whether the header describes a track for the whole file, which passthrough relies on. */
  allowsPassthrough: boolean;
};

const USUAL = {
  duration: 'track',
  clockMayBreak: false,
  scanTypeMayChange: false,
  allowsPassthrough: false,
} as const;

/** All containers that are accepted. None of them can refer to other files. */
const CONTAINERS: Record<string, ContainerTraits> = {
  mp4: { ...USUAL, demuxers: ['mov'], duration: 'index', allowsPassthrough: true },
  mov: { ...USUAL, demuxers: ['mov'], duration: 'index', allowsPassthrough: true },
  matroska: {
    ...USUAL,
    demuxers: ['matroska', 'webm'],
    duration: 'file',
    scanTypeMayChange: true,
    allowsPassthrough: true,
  },
  mpegts: { ...USUAL, demuxers: ['mpegts'], clockMayBreak: true, scanTypeMayChange: true },
  mpeg: { ...USUAL, demuxers: ['mpeg'], clockMayBreak: true, scanTypeMayChange: true },
  avi: { ...USUAL, demuxers: ['avi'], duration: 'frame_count' },
  flv: { ...USUAL, demuxers: ['flv'], duration: 'file' },
  ogg: { ...USUAL, demuxers: ['ogg'] },
  asf: { ...USUAL, demuxers: ['asf'] },
  mxf: { ...USUAL, demuxers: ['mxf'] },
};

/** ffmpeg's demuxers for all containers that are accepted. */
export const DEMUXERS = [...new Set(Object.values(CONTAINERS).flatMap(({ demuxers }) => demuxers))];

/** Throws when the container is not accepted, which ffprobe has refused by then. */
export function containerTraits(container: string): ContainerTraits {
  const traits = CONTAINERS[container];
  if (!traits) throw new Error(`Unknown container ${container}`);
  return traits;
}
