import type { Presentation, SessionDataFile } from '../presentation.ts';
import { type Finding, judged, judgeEach, linePlace, notApplicable, type Rule } from '../rule.ts';

/** The DATA-ID of chapters in Apple's format. */
const CHAPTERS_ID = 'com.apple.hls.chapters';

const NO_DATA = 'there is no session data';

/** Rules for EXT-X-SESSION-DATA, and for chapters in it. */
export const SESSION_DATA_RULES: readonly Rule[] = [
  {
    id: 'session-data.tag',
    level: 'must',
    source: 'RFC 8216 §4.3.4.4',
    sentence:
      'EXT-X-SESSION-DATA has either VALUE or URI. No two have the same DATA-ID and the same LANGUAGE, or none.',
    check: ({ master }) => {
      const seen = new Set<string>();
      return judgeEach(master?.sessionData ?? [], NO_DATA, ({ line, attributes }) => {
        const place = linePlace('master.m3u8', { line });
        const text = (name: string) => attributes.get(name)?.text ?? '';
        const key = `${text('DATA-ID')} ${text('LANGUAGE')}`;
        const isRepeated = seen.has(key);
        seen.add(key);
        return [
          ...(attributes.has('VALUE') === attributes.has('URI')
            ? [
                {
                  place,
                  message: `has ${attributes.has('URI') ? 'both VALUE and' : 'neither VALUE nor'} URI`,
                },
              ]
            : []),
          ...(isRepeated ? [{ place, message: `has the DATA-ID ${text('DATA-ID')} again` }] : []),
        ];
      });
    },
  },
  {
    id: 'session-data.json',
    level: 'must',
    source: 'RFC 8216 §4.3.4.4',
    sentence: 'The URI of EXT-X-SESSION-DATA leads to JSON.',
    check: ({ sessionData }) =>
      judgeEach(fetched(sessionData), NO_DATA, ({ name, text }) =>
        jsonOf(text) === undefined ? [{ place: name, message: 'is not JSON' }] : [],
      ),
  },
  {
    id: 'session-data.chapters',
    level: 'must',
    source: 'Apple, "Providing JavaScript Object Notation (JSON) chapters"',
    sentence:
      "Chapters are in Apple's JSON format, by their start times, which differ. All begin before the end of the video.",
    check: (presentation) => {
      const lists = fetched(presentation.sessionData).flatMap(({ dataId, name, text }) => {
        const value = jsonOf(text);
        return dataId === CHAPTERS_ID && value !== undefined ? [{ name, value }] : [];
      });
      if (lists.length === 0) return notApplicable('there are no chapters');
      const end = durationOf(presentation);
      return judged(lists.flatMap(({ name, value }) => flawsOfChapters(name, value, end)));
    },
  },
];

function fetched(files: readonly SessionDataFile[]): (SessionDataFile & { text: string })[] {
  return files.flatMap((file) => (file.text === null ? [] : [{ ...file, text: file.text }]));
}

/** Undefined if the text is not JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function flawsOfChapters(name: string, value: unknown, end: number): Finding[] {
  if (!Array.isArray(value)) return [{ place: name, message: 'is not an array of chapters' }];
  let last = Number.NEGATIVE_INFINITY;
  return value.flatMap((chapter: unknown, at) => {
    const place = `${name}, chapter ${at + 1}`;
    const flaw = flawOf(chapter);
    if (flaw !== undefined) return [{ place, message: flaw }];
    const start = (chapter as { 'start-time': number })['start-time'];
    const messages = [
      ...(start > last ? [] : [`begins at ${start} s, not after the chapter before it`]),
      ...(start < end ? [] : [`begins at ${start} s, and the video ends at ${end.toFixed(3)} s`]),
    ];
    last = start;
    return messages.map((message) => ({ place, message }));
  });
}

/** Where a chapter breaks the format; undefined if it does not. */
function flawOf(chapter: unknown): string | undefined {
  const members = membersOf(chapter);
  if (members === undefined) return 'is not an object';
  const { 'start-time': start, duration, titles = [] } = members;
  if (typeof start !== 'number' || start < 0) return `has the start-time ${JSON.stringify(start)}`;
  if (duration !== undefined && !(typeof duration === 'number' && duration > 0)) {
    return `has the duration ${JSON.stringify(duration)}`;
  }
  const isTitle = (title: unknown) => {
    const { language, title: text } = membersOf(title) ?? {};
    return typeof language === 'string' && language !== '' && typeof text === 'string';
  };
  return Array.isArray(titles) && titles.every(isTitle)
    ? undefined
    : 'has a title without a language or a text';
}

function membersOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

/** Seconds of the first rendition by its playlist. */
function durationOf({ renditions: [first] }: Presentation): number {
  return first?.playlist.segments.reduce((sum, { duration }) => sum + duration, 0) ?? 0;
}
