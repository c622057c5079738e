import type { Word } from './words.ts';

/**
 * Words with times in the order of their text, within sound of this duration. The starts that increase are believed: the most of them that can be.
 * Each other start is between its neighbours. So one wrong time, which recognisers write now and then, does not move all words after it.
 */
export function withPlausibleTimes(words: readonly Word[], seconds: number): Word[] {
  const believed = increasing(
    words.map(({ start }) => (start >= 0 && start <= seconds ? start : Number.NaN)),
  );
  const starts: number[] = [];
  let [before, from] = [0, -1];
  for (const at of [...believed, words.length]) {
    const next = words[at]?.start ?? seconds;
    for (let between = from + 1; between < at; between += 1)
      starts.push(before + ((next - before) * (between - from)) / (at - from));
    if (at < words.length) starts.push(next);
    [before, from] = [next, at];
  }
  const timed = words.map(({ text, start: own, end }, at) => {
    const start = starts[at] ?? seconds;
    const latest = starts[at + 1] ?? seconds;
    // The end of a word whose start is wrong is not believed either.
    return { text, start, end: own === start && end >= start ? Math.min(end, latest) : latest };
  });
  return spread(timed, seconds);
}

/** How long a word is spoken, if nothing says more. */
const WORD_SECONDS = 0.3;

/** Words that begin at the same time, as some recognisers write them, are spoken one after the other until the last one ends. */
function spread(words: readonly Word[], seconds: number): Word[] {
  const result: Word[] = [];
  for (let from = 0, to = 0; from < words.length; from = to) {
    const start = words[from]?.start ?? 0;
    while (words[to]?.start === start) to += 1;
    const count = to - from;
    const next = words[to]?.start ?? seconds;
    const end = Math.max(words[to - 1]?.end ?? start, Math.min(start + WORD_SECONDS * count, next));
    for (const [at, word] of words.slice(from, to).entries())
      result.push(
        count === 1
          ? word
          : {
              text: word.text,
              start: start + ((end - start) * at) / count,
              end: start + ((end - start) * (at + 1)) / count,
            },
      );
  }
  return result;
}

/** The positions of a longest part of the values that does not decrease. NaN is never part of it. */
function increasing(values: readonly number[]): number[] {
  /** The position of the smallest value that ends a part of each length. */
  const ends: number[] = [];
  const previous: number[] = [];
  for (const [at, value] of values.entries()) {
    if (Number.isNaN(value)) continue;
    const length = countUpTo(value, ends, values);
    previous[at] = ends[length - 1] ?? -1;
    ends[length] = at;
  }
  const found: number[] = [];
  for (let at = ends.at(-1) ?? -1; at !== -1; at = previous[at] ?? -1) found.push(at);
  return found.reverse();
}

/** How many of the positions have values of at most this. Their values do not decrease. */
function countUpTo(value: number, positions: readonly number[], values: readonly number[]): number {
  let [low, high] = [0, positions.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[positions[middle] ?? 0] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
