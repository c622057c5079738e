/** The aspect ratio in an attribute, as CSS writes it: two numbers as in `16/9` or `16:9`, or one. Undefined if it is none. */
export function aspectRatio(text: string): string | undefined {
  const [width, height = '1', ...rest] = text.split(/[/:]/).map((part) => part.trim());
  if (rest.length > 0 || !isPositive(width) || !isPositive(height)) return undefined;
  return `${Number(width)} / ${Number(height)}`;
}

function isPositive(text: string | undefined): boolean {
  const number = Number(text || Number.NaN);
  return number > 0 && number < Number.POSITIVE_INFINITY;
}
