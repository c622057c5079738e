import { PLAYER_ORIGIN } from '../loading/http-client.ts';
import { type Answer, type Presentation, type Question, shortAddress } from '../presentation.ts';
import { type Finding, judgeEach, type Rule } from '../rule.ts';

/** Shorter playlists grow when they are compressed, or nearly so. */
const WORTH_COMPRESSING = 256;
const YEAR_SECONDS = 31_536_000;
const NOT_ASKED = 'it was not asked for';

const TYPES: Readonly<Record<Answer['kind'], readonly string[]>> = {
  'master playlist': ['application/vnd.apple.mpegurl', 'audio/mpegurl'],
  'media playlist': ['application/vnd.apple.mpegurl', 'audio/mpegurl'],
  segment: ['video/mp2t', 'audio/mp2t', 'audio/aac', 'video/mp4', 'audio/mp4', 'video/iso.segment'],
  key: ['application/octet-stream', 'binary/octet-stream'],
};

/** Rules for how servers answer. */
export const DELIVERY_RULES: readonly Rule[] = [
  {
    id: 'delivery.reachable',
    level: 'must',
    source: 'RFC 8216 §6.2.1',
    sentence: 'Every URL in a playlist returns 200 and a complete body.',
    check: everyAnswer(['whole'], ({ status, error }) => {
      if (status === 200) return [];
      return [error === null ? `responded with ${status}` : `no complete response: ${error}`];
    }),
  },
  {
    id: 'delivery.no-redirects',
    level: 'must',
    source: 'Apple 8.18',
    sentence: 'No URL redirects.',
    check: everyAnswer(['whole'], ({ redirects }, presentation) =>
      redirects.length === 0
        ? []
        : [`is redirected to ${redirects.map((to) => shortAddress(to, presentation.url)).join(', ')}`],
    ),
  },
  {
    id: 'delivery.types',
    level: 'should',
    source: 'Apple 10.4; RFC 8216 §4',
    sentence: 'The Content-Type is the one for playlists, segments and keys.',
    check: everyAnswer(['whole'], ({ kind, status, headers }) => {
      const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
      return status !== 200 || (type && TYPES[kind].includes(type))
        ? []
        : [`a ${kind} has the type ${type ?? 'none'}`];
    }),
  },
  {
    id: 'delivery.compressed-playlists',
    level: 'must',
    source: 'Apple 10.1',
    sentence: `Playlists of at least ${WORTH_COMPRESSING} bytes are sent with gzip to clients that accept it.`,
    check: (presentation) => {
      const { renditions, master } = presentation;
      const files = [...(master ? [master.file] : []), ...renditions.flatMap(({ file }) => file ?? [])];
      const long = files.filter(({ bytes }) => bytes >= WORTH_COMPRESSING);
      return judgeEach(long, 'playlists are too short to be compressed', ({ url, bytes }) => {
        const answer = presentation.answers.find((each) => each.url === url && each.question === 'whole');
        if (answer?.headers['content-encoding'] === 'gzip') return [];
        return [
          { place: shortAddress(url, presentation.url), message: `its ${bytes} bytes are not compressed` },
        ];
      });
    },
  },
  {
    id: 'delivery.plain-segments',
    level: 'own',
    source: 'RFC 9110 §8.4',
    sentence: 'Segments and keys are sent without compression, because encrypted data does not compress.',
    check: everyAnswer(['whole'], ({ kind, headers }) => {
      const encoding = headers['content-encoding'];
      return (kind === 'segment' || kind === 'key') && encoding !== undefined
        ? [`is sent with ${encoding}`]
        : [];
    }),
  },
  {
    id: 'delivery.caching',
    level: 'own',
    source: 'RFC 9111 §5.2',
    sentence:
      'Caches can store segments for a year and playlists for at most a minute. They must not store keys.',
    check: everyAnswer(['whole'], ({ kind, status, headers }) => {
      const caching = headers['cache-control'] ?? 'missing';
      return status !== 200 || isRightCaching(kind, caching)
        ? []
        : [`Cache-Control of a ${kind} is ${caching}`];
    }),
  },
  {
    id: 'delivery.cross-origin',
    level: 'own',
    source: 'Fetch standard §3.3',
    sentence:
      'Pages of any origin can read every response, whatever its status. Preflight responses allow it.',
    check: everyAnswer(
      [
        ...(['whole', 'head', 'unchanged', 'first bytes', 'last bytes'] as const),
        ...(['bytes beyond the end', 'preflight', 'what does not exist'] as const),
      ],
      ({ question, status, headers }) => {
        if (status === null) return [];
        const origin = headers['access-control-allow-origin'];
        if (origin !== '*' && origin !== PLAYER_ORIGIN) {
          return [`${question}: ${status} without Access-Control-Allow-Origin`];
        }
        return question === 'preflight' && status >= 300 ? [`preflight: responded with ${status}`] : [];
      },
    ),
  },
  {
    id: 'delivery.ranges',
    level: 'own',
    source: 'RFC 9110 §14',
    sentence: 'Range requests for segments return the requested bytes, or 416 beyond the end.',
    check: everyAnswer(
      ['first bytes', 'last bytes', 'bytes beyond the end'],
      ({ question, status, matches }) => {
        if (question === 'bytes beyond the end')
          return status === 416 ? [] : [`${question}: responded with ${status}`];
        if (status !== 206) return [`${question}: responded with ${status}`];
        return matches ? [] : [`${question}: the part or its Content-Range is wrong`];
      },
    ),
  },
  {
    id: 'delivery.head',
    level: 'own',
    source: 'RFC 9110 §9.3.2',
    sentence: 'HEAD returns what GET returns, without the body.',
    check: everyAnswer(['head'], ({ status, bytes, headers, url, kind }, { answers }) => {
      const whole = answers.find((answer) => answer.url === url && answer.question === 'whole');
      if (status !== 200) return [`responded with ${status}`];
      if (bytes > 0) return [`has a body of ${bytes} bytes`];
      const names = ['content-type', ...(kind === 'segment' ? ['content-length'] : [])];
      return names
        .filter((name) => headers[name] !== whole?.headers[name])
        .map(
          (name) => `${name} is ${headers[name] ?? 'missing'}, for GET ${whole?.headers[name] ?? 'missing'}`,
        );
    }),
  },
  {
    id: 'delivery.not-modified',
    level: 'own',
    source: 'RFC 9110 §13.1, §15.4.5',
    sentence: 'Playlists and segments have a validator. Conditional requests return 304.',
    check: (presentation) => {
      const asked = presentation.answers.filter(({ question }) => question === 'head');
      const subjects = asked.filter(({ kind }) => kind !== 'key');
      return judgeEach(subjects, NOT_ASKED, ({ url }) => {
        const answer = presentation.answers.find((each) => each.url === url && each.question === 'unchanged');
        const place = shortAddress(url, presentation.url);
        if (answer === undefined) return [{ place, message: 'has neither ETag nor Last-Modified' }];
        if (answer.status === 304 && answer.bytes === 0) return [];
        return [{ place, message: `responded with ${answer.status} and ${answer.bytes} bytes` }];
      });
    },
  },
];

function everyAnswer(
  questions: readonly Question[],
  violations: (answer: Answer, presentation: Presentation) => string[],
): Rule['check'] {
  return (presentation) => {
    const asked = presentation.answers.filter(({ question }) => questions.includes(question));
    return judgeEach(asked, NOT_ASKED, (answer): Finding[] =>
      violations(answer, presentation).map((message) => ({
        place: shortAddress(answer.url, presentation.url),
        message,
      })),
    );
  };
}

function isRightCaching(kind: Answer['kind'], caching: string): boolean {
  if (kind === 'key') return /\bno-store\b/.test(caching);
  const age = Number(/\bmax-age=(\d+)/.exec(caching)?.[1] ?? Number.NaN);
  if (kind === 'segment') return age >= YEAR_SECONDS && /\bpublic\b/.test(caching);
  return /\bno-(store|cache)\b/.test(caching) || age <= 60;
}
