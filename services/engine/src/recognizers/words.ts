/** A part of a text that is not broken across lines, and when it is spoken, in seconds. */
export type Word = { text: string; start: number; end: number };

/** A part of a text as a recogniser reports it: a word, or a part of one. Times that are not numbers are null. */
export type TimedPart = { text: string; start: number | null; end: number | null };

/** A text with the times of its parts, which may be incomplete. */
export type Segment = TimedPart & { parts: readonly TimedPart[] };

/** Characters that are searched for the next part. Parts that are not found there are ignored. */
const SEARCHED = 64;

/** Scripts without spaces between words: a line may end after each character. */
const WITHOUT_SPACES =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** Signs of these scripts after and before which a line may be broken. */
const WIDE_END = /[。、！？」』）]/u;
const WIDE_BEGIN = /[「『（]/u;

/** Signs with a space before them, as in French. No line begins with them. */
const APART = /^\s+[?!:;%»…]+$/u;

/** Words, with such signs after them. */
const WORDS = /\S+(?:\s+[?!:;%»…]+(?!\S))*/gu;

/**
 * The words of a segment. Its text says what is shown, its parts only when: some recognisers report parts without punctuation, parts of words, or
 * none at all. Without parts, the time of the segment is divided by the length of the words.
 */
export function wordsOf(segment: Segment): Word[] {
  const { text } = segment;
  const pieces = placed(segment);
  if (pieces.length > 0) return joined(pieces).flatMap(divided);
  // Words without a time get one from their neighbours.
  const start = segment.start ?? Number.NaN;
  return divided({ text, start, end: Math.max(start, segment.end ?? start) });
}

/** The text of a segment in pieces, which begin with its parts. Together they are the whole text. */
function placed({ text, parts }: Segment): Word[] {
  const pieces: Word[] = [];
  const lower = comparable(text);
  let at = 0;
  for (const { text: part, start, end } of parts) {
    const token = comparable(part.trim());
    if (token === '' || start === null) continue;
    const found = lower.slice(at, at + SEARCHED + token.length).indexOf(token);
    if (found === -1) continue;
    const from = at + found;
    const last = pieces.at(-1);
    const border = last === undefined ? at : at + beginOfLastWord(text.slice(at, from));
    if (last !== undefined) last.text += text.slice(at, border);
    at = from + token.length;
    pieces.push({ text: text.slice(border, at), start, end: Math.max(start, end ?? start) });
  }
  const last = pieces.at(-1);
  if (last !== undefined) last.text += text.slice(at);
  return pieces;
}

/** Where the last word of a text begins, with the spaces before it; its end if it has no spaces. */
function beginOfLastWord(text: string): number {
  const word = /\s\S*$/.exec(text);
  return word === null ? text.length : word.index;
}

/** A text for comparison: of the same length, without case where that is possible. */
function comparable(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text;
}

/** Joins parts of the same word. */
function joined(pieces: readonly Word[]): Word[] {
  const words: Word[] = [];
  for (const piece of pieces) {
    const last = words.at(-1);
    const begins = /^\s/.test(piece.text) || /\s$/.test(last?.text ?? '');
    if (last === undefined || ((begins || mayBreak(last.text, piece.text)) && !APART.test(piece.text)))
      words.push({ ...piece });
    else {
      last.text += piece.text;
      last.end = Math.max(last.end, piece.end);
    }
  }
  return words;
}

function mayBreak(before: string, after: string): boolean {
  const [last, first] = [before.at(-1) ?? '', after.charAt(0)];
  return (
    (WITHOUT_SPACES.test(last) || WIDE_END.test(last)) &&
    (WITHOUT_SPACES.test(first) || WIDE_BEGIN.test(first))
  );
}

/** Divides a text at the spaces between its words. Each word gets a part of the time by its length, and has a space before it if the text has one. */
function divided({ text, start, end }: Word): Word[] {
  const words = [...text.matchAll(WORDS)].map(({ 0: word, index }) => (index > 0 ? ` ${word}` : word));
  const length = words.reduce((sum, word) => sum + word.trim().length, 0);
  let before = 0;
  return words.map((word) => {
    const from = start + ((end - start) * before) / length;
    before += word.trim().length;
    return { text: word, start: from, end: start + ((end - start) * before) / length };
  });
}
