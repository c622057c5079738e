/** A segment as ffmpeg's playlist lists it: seconds, and the name of its file. */
export type ListedSegment = { duration: number; file: string };

/** Reads the segments from a media playlist that ffmpeg wrote. */
export function readMediaPlaylist(text: string): ListedSegment[] {
  return [...text.matchAll(/^#EXTINF:([\d.]+),.*\n(?!#)(.+)$/gm)].map(([, duration = '', file = '']) => ({
    duration: Number(duration),
    file,
  }));
}
