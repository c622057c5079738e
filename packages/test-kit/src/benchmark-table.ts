/** The median; NaN for no numbers. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  const [low = Number.NaN, high = Number.NaN] = [sorted[Math.ceil(half) - 1], sorted[Math.floor(half)]];
  return (low + high) / 2;
}

/** A line of a table: a name and its figures. */
export function line([name = '', ...figures]: readonly string[]): string {
  return name.padEnd(28) + figures.map((figure) => figure.padStart(11)).join('');
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
