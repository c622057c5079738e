/** Reads words that are separated by commas. */
export function words(text: string): string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

/** Collects the values of an option that can be given several times. */
export function collected(value: string, former: readonly string[] = []): string[] {
  return [...former, value];
}
