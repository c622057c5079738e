import { z } from 'zod';
import { withPlausibleTimes } from './plausible-times.ts';
import { type Segment, type TimedPart, type Word, wordsOf } from './words.ts';

/** What a recogniser has heard in a part of the sound. */
export type Recognition = {
  /** As the recogniser says it: a tag or an English name. */
  language: string | null;
  /** By time, in seconds from the start of the part. */
  words: Word[];
};

/** Nobody speaks more characters in a second. What exceeds it is left out. */
const MAX_CHARACTERS_PER_SECOND = 100;

/** The most segments and parts of words that are read for a second of sound. */
const MAX_SEGMENTS_PER_SECOND = 20;
const MAX_PARTS_PER_SECOND = 50;

/**
 * A segment, a word or a phrase more often than this in a row is a loop of the recogniser, which happens in music and noise. The refrains of songs
 * remain.
 */
const MAX_REPEATS = 2;
const MAX_WORD_REPEATS = 6;
const MAX_PHRASE_REPEATS = 4;

/** The most words of a phrase that is looked for: a sentence of a script without spaces has one for each character. */
const MAX_PHRASE = 32;

/** With both, OpenAI's Whisper regards a segment as silence. */
const SILENT = { noSpeech: 0.6, logarithm: -1 };

/** What recognisers write for sound without speech, without spaces and signs. */
const NO_SPEECH = new Set(['', 'blankaudio', 'silence', 'nospeech', 'music', 'musicplaying', 'inaudible']);

/** Some servers write numbers as strings. */
const number = z.preprocess(
  (value) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value),
  z.number().nullish().catch(null),
);

/** Seconds. LocalAI writes nanoseconds, and no sound has a million seconds. */
const time = number.transform((value) =>
  typeof value === 'number' && value >= 1_000_000 ? value / 1_000_000_000 : value,
);
const part = z.object({ word: z.string().catch(''), start: time, end: time });
const parts = z
  .array(part.catch({ word: '', start: null, end: null }))
  .nullish()
  .catch(null);

/** `verbose_json` of OpenAI's API. Some servers put the words into the segments. */
const verboseJson = z.object({
  language: z.string().nullish().catch(null),
  text: z.string().nullish().catch(null),
  segments: z
    .array(
      z.object({
        text: z.string().catch(''),
        start: time,
        end: time,
        words: parts,
        no_speech_prob: number,
        avg_logprob: number,
      }),
    )
    .nullish(),
  words: parts,
});

const milliseconds = z.object({
  offsets: z.object({ from: number, to: number }).catch({}),
  text: z.string().catch(''),
});

/** The JSON of `whisper-cli -ojf`. */
const whisperCli = z.object({
  result: z.object({ language: z.string().nullish() }).nullish().catch(null),
  transcription: z.array(milliseconds.extend({ tokens: z.array(milliseconds).nullish().catch(null) })),
});

/**
 * Reads the JSON of a recogniser about sound of this duration. Times that cannot be true get others. Characters that are not text, and more text than anyone speaks, are left out. Runs in a thread: the JSON is not trusted.
 */
export function readAnswer({
  answer,
  seconds,
}: {
  answer: string;
  seconds: number;
}): Recognition | { flaw: string } {
  const json = parse(answer);
  if (json === undefined) return { flaw: 'The answer of the recogniser is not JSON' };
  const ofProgram = whisperCli.safeParse(json);
  if (ofProgram.success)
    return recognition(ofProgram.data.result?.language, segmentsOfProgram(ofProgram.data), seconds);
  const verbose = verboseJson.safeParse(json);
  const isText =
    verbose.success && (verbose.data.segments !== undefined || typeof verbose.data.text === 'string');
  if (!isText) return { flaw: 'The answer of the recogniser has no segments and no text' };
  return recognition(verbose.data.language, segmentsOf(verbose.data, seconds), seconds);
}

/** Programs in Python write NaN and Infinity, which are not JSON. */
function parse(answer: string): unknown {
  for (const text of [
    answer,
    answer.replaceAll(/(?<=[:,[]\s{0,4})-?(NaN|Infinity)(?=\s{0,4}[,}\]])/g, 'null'),
  ]) {
    try {
      return JSON.parse(text);
    } catch {}
  }
  return undefined;
}

function segmentsOfProgram({ transcription }: z.infer<typeof whisperCli>): Segment[] {
  const timed = ({ text, offsets }: z.infer<typeof milliseconds>): TimedPart => ({
    text: clean(text),
    start: inSeconds(offsets.from),
    end: inSeconds(offsets.to),
  });
  return transcription.map((segment) => ({ ...timed(segment), parts: (segment.tokens ?? []).map(timed) }));
}

function inSeconds(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : value / 1000;
}

function segmentsOf({ segments, words, text }: z.infer<typeof verboseJson>, seconds: number): Segment[] {
  // Some servers write no segments, but words and a text.
  const all = segments?.length ? segments : [{ text: text ?? '', start: 0, end: seconds, words }];
  const spoken = all.filter((segment) => !('no_speech_prob' in segment && isSilence(segment)));
  const whole = (words ?? []).map(toPart);
  let next = 0;
  return spoken.map((segment, at) => {
    const timed = { text: clean(segment.text), start: segment.start ?? null, end: segment.end ?? null };
    if (segment.words) return { ...timed, parts: segment.words.map(toPart) };
    // The words of the whole answer are in the order of its segments.
    const end = spoken[at + 1]?.start ?? Number.POSITIVE_INFINITY;
    const from = next;
    while (next < whole.length && (whole[next]?.start ?? 0) < end) next += 1;
    return { ...timed, parts: whole.slice(from, next) };
  });
}

/** Whether the recogniser believes that there is no speech, and is not sure of the text. */
function isSilence({ no_speech_prob: silence, avg_logprob: logarithm }: Sureness): boolean {
  return (silence ?? 0) > SILENT.noSpeech && (logarithm ?? 0) < SILENT.logarithm;
}

type Sureness = { no_speech_prob?: number | null | undefined; avg_logprob?: number | null | undefined };

function toPart({ word, start = null, end = null }: z.infer<typeof part>): TimedPart {
  return { text: clean(word), start, end };
}

/** Text without control characters, line breaks and halves of characters. */
function clean(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ').replaceAll(/[\p{Bidi_Control}\p{Cs}\ufffd]/gu, '');
}

function recognition(
  language: string | null | undefined,
  segments: readonly Segment[],
  seconds: number,
): Recognition {
  const words: Word[] = [];
  let characters = MAX_CHARACTERS_PER_SECOND * Math.ceil(seconds);
  let partsLeft = MAX_PARTS_PER_SECOND * Math.ceil(seconds);
  const most = MAX_SEGMENTS_PER_SECOND * Math.ceil(seconds);
  for (const segment of spokenSegments(segments.slice(0, most))) {
    const text = segment.text.slice(0, characters);
    const parts = segment.parts.slice(0, partsLeft);
    characters -= text.length;
    partsLeft -= parts.length;
    for (const word of wordsOf({ ...segment, text, parts })) words.push(word);
  }
  return { language: language ?? null, words: withPlausibleTimes(withoutLoops(words), seconds) };
}

/** The words; a word or a phrase that is repeated again and again remains as often as it may be. */
function withoutLoops(words: readonly Word[]): Word[] {
  const texts = words.map(({ text }) => comparable(text));
  /** For each length of a phrase, how many words in a row are as the one so many before them. */
  const repeated = new Uint32Array(MAX_PHRASE + 1);
  return words.filter((_, at) => {
    let isLoop = false;
    for (let length = 1; length <= MAX_PHRASE; length += 1) {
      const isSame = at >= length && texts[at] === texts[at - length];
      const count = isSame ? (repeated[length] ?? 0) + 1 : 0;
      repeated[length] = count;
      const most = length === 1 ? MAX_WORD_REPEATS : MAX_PHRASE_REPEATS;
      isLoop ||= count > (most - 1) * length;
    }
    return !isLoop;
  });
}

/** A text as it is compared with others: without spaces, signs and cases. */
function comparable(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]/gu, '').toLowerCase();
}

/** The segments with speech: text without letters and digits is none. One that is repeated again and again remains `MAX_REPEATS` times. */
function spokenSegments(segments: readonly Segment[]): Segment[] {
  let repeats = 0;
  return segments.filter(({ text }, at) => {
    repeats = at > 0 && text.trim() === segments[at - 1]?.text.trim() ? repeats + 1 : 0;
    return repeats < MAX_REPEATS && !NO_SPEECH.has(comparable(text));
  });
}
