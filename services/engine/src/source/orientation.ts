/** ffmpeg's filters that turn a picture as a display matrix wants it shown; none when that is as it is coded. */
export type Turn = readonly ('transpose=clock' | 'transpose=cclock' | TransposeFlip | 'hflip' | 'vflip')[];
type TransposeFlip = 'transpose=clock_flip' | 'transpose=cclock_flip';

/**
 * @param matrix as ffprobe writes it: three lines with an address and three numbers. Pixel (x, y) is shown at
 *   (a·x + c·y, b·x + d·y) when its first two columns are a b, c d (ISO/IEC 14496-12 §6.2.2)
 */
export function turnOf(matrix: string): Turn {
  const rows = matrix
    .trim()
    .split('\n')
    .map((line) => line.split(':')[1]?.trim().split(/\s+/).map(Number) ?? []);
  const [[a = 1, b = 0] = [], [c = 0, d = 1] = []] = rows;
  if (Math.abs(b) + Math.abs(c) > Math.abs(a) + Math.abs(d)) {
    if (b > 0) return [c < 0 ? 'transpose=clock' : 'transpose=cclock_flip'];
    return [c > 0 ? 'transpose=cclock' : 'transpose=clock_flip'];
  }
  return [...(a < 0 ? (['hflip'] as const) : []), ...(d < 0 ? (['vflip'] as const) : [])];
}

/** Whether width and height change places. */
export function isOnItsSide(turn: Turn): boolean {
  return turn.some((filter) => filter.startsWith('transpose'));
}
