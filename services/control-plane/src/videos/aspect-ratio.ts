const COMMON_RATIOS = [
  '16:9',
  '9:16',
  '4:3',
  '3:4',
  '1:1',
  '3:2',
  '2:3',
  '4:5',
  '5:4',
  '21:9',
  '9:21',
  '2:1',
  '1:2',
];
/** Relative. 854x480 counts as 16:9 although it deviates by 0.1 %. */
const TOLERANCE = 0.01;

/** The nearest common aspect ratio within one percent, else the exact ratio in lowest terms. */
export function aspectRatio(width: number, height: number): string {
  const exact = width / height;
  const common = COMMON_RATIOS.find((ratio) => {
    const [across = 1, down = 1] = ratio.split(':').map(Number);
    return Math.abs(across / down / exact - 1) < TOLERANCE;
  });
  if (common !== undefined) return common;
  const divisor = greatestCommonDivisor(width, height);
  return `${width / divisor}:${height / divisor}`;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
