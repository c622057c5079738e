import type { Turn } from '@framelane/contracts/transcode-plan';

/**
 * Reads a display matrix.
 *
 * @param matrix as ffprobe writes it: three lines with an address and three numbers each. With `a b` and `c d` in its first
 *   two columns, pixel (x, y) is displayed at (a·x + c·y, b·x + d·y) (ISO/IEC 14496-12 §6.2.2)
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

/** Whether width and height are swapped. */
export function swapsSides(turn: Turn): boolean {
  return turn.some((filter) => filter.startsWith('transpose'));
}
