/** The middle one; of an even count, the higher of the two. NaN of none. */
export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

/** A line of a table: what is measured, and its figures. */
export function line([name = '', ...figures]: readonly string[]): string {
  return name.padEnd(28) + figures.map((figure) => figure.padStart(11)).join('');
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
