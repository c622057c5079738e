import type { Cue } from '@framelane/captions/captions';
import type { Word } from '../../recognizers/words.ts';
import { endsSentence, isAbbreviation } from './sentence-ends.ts';

/** Two lines of 42 columns: the limits of most style guides for subtitles. Wide characters take two columns. */
const LINE_COLUMNS = 42;

/** A cue is not longer than this, so that it is not shown long after it was spoken. */
const MAX_SECONDS = 7;

/** A cue is shown at least this long, unless the next one begins before. */
const MIN_SECONDS = 1;

/** A pause of this length ends a cue. */
const PAUSE_SECONDS = 1;

/** A sentence of this length is a cue of its own. Shorter ones are joined with the next. */
const SENTENCE_SECONDS = 1;

/** A cue as often as this in a row is a loop of the recogniser, which happens in music and noise, in each part of the sound. */
const MAX_REPEATS = 2;

/** After a longer pause, somebody has said it again. */
const LOOP_PAUSE_SECONDS = 60;

const CLAUSE_END = /[,;:–—、，；]["'”’»)\]]*$/u;

const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\uff01-\uff60]/u;

/** A word with its columns. */
type Measured = Word & { columns: number };

/**
 * Joins words into cues: one sentence each if it fits into two lines, else a part of one that ends with a clause or a pause. Words are added in
 * the order of time; those of several parts of the sound make one text.
 */
export class CaptionCues {
  readonly #cues: Cue[] = [];
  #words: Measured[] = [];
  /** In milliseconds, of the latest cue, also of one that was left out. */
  #latestEnd = 0;

  add(words: readonly Word[]): void {
    for (const word of words.flatMap(shortened)) this.#add(word);
  }

  /** All cues. */
  finish(): Cue[] {
    this.#emit(this.#words.length);
    return this.#cues;
  }

  #add(word: Measured): void {
    const [first, last] = [this.#words[0], this.#words.at(-1)];
    if (first !== undefined && last !== undefined) {
      const isPause = word.start - last.end >= PAUSE_SECONDS;
      const isSentence = endsSentence(last.text, word.text) && last.end - first.start >= SENTENCE_SECONDS;
      if (isPause || isSentence) this.#emit(this.#words.length);
      else if (linesOf([...this.#words, word]) === undefined || word.end - first.start > MAX_SECONDS) {
        this.#emit(clauseIn(this.#words, word));
      }
    }
    this.#words.push(word);
    // The rest of a sentence can be too long for one cue with the word.
    if (linesOf(this.#words) === undefined) this.#emit(this.#words.length - 1);
  }

  /** Makes a cue of the first `count` words. */
  #emit(count: number): void {
    const words = this.#words.slice(0, count);
    this.#words = this.#words.slice(count);
    const [first, last] = [words[0], words.at(-1)];
    if (first === undefined || last === undefined) return;
    const start = milliseconds(first.start);
    const before = this.#cues.at(-1);
    // Now it is known how long the cue before may be shown.
    if (before !== undefined) {
      before.end = Math.min(Math.max(before.end, before.start + milliseconds(MIN_SECONDS)), start);
      if (before.end <= before.start) this.#cues.pop();
    }
    const latest = start + milliseconds(MAX_SECONDS);
    const end = Math.min(Math.max(milliseconds(last.end), start + 1), latest);
    const text = (linesOf(words) ?? [textOf(words)]).map(escaped).join('\n');
    const isLoop =
      this.#cues.length >= MAX_REPEATS &&
      start - this.#latestEnd <= milliseconds(LOOP_PAUSE_SECONDS) &&
      this.#cues.slice(-MAX_REPEATS).every((cue) => cue.text === text);
    if (!isLoop) this.#cues.push({ start, end, settings: '', text });
    this.#latestEnd = end;
  }
}

/**
 * How many words the cue has if the next one does not fit: up to the last clause in its second half, or all. A title stays with its name.
 */
function clauseIn(words: readonly Measured[], next: Word): number {
  const half = words.length / 2;
  const clause = words.findLastIndex(
    ({ text }, at) => CLAUSE_END.test(text) || endsSentence(text, (words[at + 1] ?? next).text),
  );
  if (clause + 1 > half) return clause + 1;
  const whole = words.findLastIndex(({ text }) => !isAbbreviation(text));
  return whole + 1 > half ? whole + 1 : words.length;
}

/** One line, or two of about the same length, the first of which does not end with a title; undefined if the words do not fit. */
function linesOf(words: readonly Measured[]): string[] | undefined {
  const total = columnsOf(words);
  if (total <= LINE_COLUMNS) return [textOf(words)];
  let best: { at: number; cost: number } | undefined;
  let before = 0;
  for (const [at, { columns }] of words.entries()) {
    const longest = Math.max(before, total - before);
    if (at > 0 && longest <= LINE_COLUMNS) {
      const cost = longest + (isAbbreviation(words[at - 1]?.text ?? '') ? LINE_COLUMNS : 0);
      if (cost < (best?.cost ?? Number.POSITIVE_INFINITY)) best = { at, cost };
    }
    before += columns;
  }
  return best && [textOf(words.slice(0, best.at)), textOf(words.slice(best.at))];
}

function columnsOf(words: readonly Measured[]): number {
  return words.reduce((sum, { columns }) => sum + columns, 0);
}

function textOf(words: readonly Word[]): string {
  return words
    .map(({ text }) => text)
    .join('')
    .trim();
}

/** A word, divided if it is longer than a line. */
function shortened({ text, start, end }: Word): Measured[] {
  const characters = [...text.replace(/^\s+/, ' ')];
  const parts: string[] = [''];
  let columns = 0;
  const widths: number[] = [];
  for (const character of characters) {
    const width = WIDE.test(character) ? 2 : 1;
    if (columns + width > LINE_COLUMNS) {
      widths.push(columns);
      parts.push('');
      columns = 0;
    }
    parts[parts.length - 1] += character;
    columns += width;
  }
  widths.push(columns);
  const seconds = (end - start) / parts.length;
  return parts.map((part, at) => ({
    text: part,
    columns: widths[at] ?? 0,
    start: start + at * seconds,
    end: start + (at + 1) * seconds,
  }));
}

function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000);
}

/** Text as cue text of WebVTT: nothing in it is a tag. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
