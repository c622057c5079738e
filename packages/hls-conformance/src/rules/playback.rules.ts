import { PLAYER_ORIGIN } from '../loading/http-client.ts';
import {
  type LoadedResponse,
  type Presentation,
  playlistFiles,
  type RequestKind,
  shortAddress,
} from '../presentation.ts';
import { type Finding, judgeEach, type Rule } from '../rule.ts';

/** Compression hardly reduces shorter playlists, or makes them larger. */
const WORTH_COMPRESSING = 256;
const YEAR_SECONDS = 31_536_000;
const NOT_REQUESTED = 'no such request was sent';

const TYPES: Readonly<Record<LoadedResponse['kind'], readonly string[]>> = {
  'master playlist': ['application/vnd.apple.mpegurl', 'audio/mpegurl'],
  'media playlist': ['application/vnd.apple.mpegurl', 'audio/mpegurl'],
  segment: ['video/mp2t', 'audio/mp2t', 'audio/aac', 'video/mp4', 'audio/mp4', 'video/iso.segment'],
  'initialization section': ['video/mp4', 'audio/mp4'],
  captions: ['text/vtt'],
  'session data': ['application/json'],
  key: ['application/octet-stream', 'binary/octet-stream'],
};

/** Rules for the responses of servers. */
export const PLAYBACK_RULES: readonly Rule[] = [
  {
    id: 'playback.reachable',
    level: 'must',
    source: 'RFC 8216 §6.2.1',
    sentence: 'Every URL in a playlist returns 200 and a complete body.',
    check: everyResponse(['whole'], ({ status, error }) => {
      if (status === 200) return [];
      return [error === null ? `responded with ${status}` : `no complete response: ${error}`];
    }),
  },
  {
    id: 'playback.no-redirects',
    level: 'must',
    source: 'Apple 8.18',
    sentence: 'No URL redirects.',
    check: everyResponse(['whole'], ({ redirects }, presentation) =>
      redirects.length === 0
        ? []
        : [`is redirected to ${redirects.map((to) => shortAddress(to, presentation.url)).join(', ')}`],
    ),
  },
  {
    id: 'playback.types',
    level: 'should',
    source: 'Apple 10.4; RFC 8216 §4',
    sentence: 'The Content-Type is the one for playlists, segments and keys.',
    check: everyResponse(['whole'], ({ kind, status, headers }) => {
      const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
      return status !== 200 || (type && TYPES[kind].includes(type))
        ? []
        : [`a ${kind} has the type ${type ?? 'none'}`];
    }),
  },
  {
    id: 'playback.compressed-playlists',
    level: 'must',
    source: 'Apple 10.1',
    sentence: `Playlists of at least ${WORTH_COMPRESSING} bytes are sent with gzip to clients that accept it.`,
    check: (presentation) => {
      const long = playlistFiles(presentation).filter(({ bytes }) => bytes >= WORTH_COMPRESSING);
      return judgeEach(long, 'playlists are too short to be compressed', ({ url, bytes }) => {
        const response = presentation.responses.find((each) => each.url === url && each.request === 'whole');
        if (response?.headers['content-encoding'] === 'gzip') return [];
        return [
          { place: shortAddress(url, presentation.url), message: `its ${bytes} bytes are not compressed` },
        ];
      });
    },
  },
  {
    id: 'playback.plain-segments',
    level: 'own',
    source: 'RFC 9110 §8.4',
    sentence: 'Segments and keys are sent without compression, because encrypted data does not compress.',
    check: everyResponse(['whole'], ({ kind, headers }) => {
      const encoding = headers['content-encoding'];
      return (isMedia(kind) || kind === 'key') && encoding !== undefined ? [`is sent with ${encoding}`] : [];
    }),
  },
  {
    id: 'playback.caching',
    level: 'own',
    source: 'RFC 9111 §5.2',
    sentence:
      'Caches can store segments for a year and playlists for at most a minute. They must not store keys.',
    check: everyResponse(['whole'], ({ kind, status, headers }) => {
      const caching = headers['cache-control'] ?? 'missing';
      return status !== 200 || isRightCaching(kind, caching)
        ? []
        : [`Cache-Control of a ${kind} is ${caching}`];
    }),
  },
  {
    id: 'playback.cross-origin',
    level: 'own',
    source: 'Fetch standard §3.3',
    sentence:
      'Pages of any origin can read every response, whatever its status. Preflight responses allow it.',
    check: everyResponse(
      [
        'whole',
        'head',
        'conditional',
        'first bytes',
        'last bytes',
        'bytes beyond the end',
        'preflight',
        'missing resource',
      ],
      ({ request, status, headers }) => {
        if (status === null) return [];
        const origin = headers['access-control-allow-origin'];
        if (origin !== '*' && origin !== PLAYER_ORIGIN) {
          return [`${request}: ${status} without Access-Control-Allow-Origin`];
        }
        return request === 'preflight' && status >= 300 ? [`preflight: responded with ${status}`] : [];
      },
    ),
  },
  {
    id: 'playback.ranges',
    level: 'own',
    source: 'RFC 9110 §14',
    sentence: 'Range requests for segments return the requested bytes, or 416 beyond the end.',
    check: everyResponse(
      ['first bytes', 'last bytes', 'bytes beyond the end'],
      ({ request, status, matches }) => {
        if (request === 'bytes beyond the end')
          return status === 416 ? [] : [`${request}: responded with ${status}`];
        if (status !== 206) return [`${request}: responded with ${status}`];
        return matches ? [] : [`${request}: the part or its Content-Range is wrong`];
      },
    ),
  },
  {
    id: 'playback.head',
    level: 'own',
    source: 'RFC 9110 §9.3.2',
    sentence: 'HEAD returns what GET returns, without the body.',
    check: everyResponse(['head'], ({ status, bytes, headers, url, kind }, { responses }) => {
      const whole = responses.find((response) => response.url === url && response.request === 'whole');
      if (status !== 200) return [`responded with ${status}`];
      if (bytes > 0) return [`has a body of ${bytes} bytes`];
      const names = ['content-type', ...(isMedia(kind) ? ['content-length'] : [])];
      return names
        .filter((name) => headers[name] !== whole?.headers[name])
        .map(
          (name) => `${name} is ${headers[name] ?? 'missing'}, for GET ${whole?.headers[name] ?? 'missing'}`,
        );
    }),
  },
  {
    id: 'playback.not-modified',
    level: 'own',
    source: 'RFC 9110 §13.1, §15.4.5',
    sentence: 'Playlists and segments have a validator. Conditional requests return 304.',
    check: (presentation) => {
      const heads = presentation.responses.filter(({ request }) => request === 'head');
      const subjects = heads.filter(({ kind }) => kind !== 'key');
      return judgeEach(subjects, NOT_REQUESTED, ({ url }) => {
        const response = presentation.responses.find(
          (each) => each.url === url && each.request === 'conditional',
        );
        const place = shortAddress(url, presentation.url);
        if (response === undefined) return [{ place, message: 'has neither ETag nor Last-Modified' }];
        if (response.status === 304 && response.bytes === 0) return [];
        return [{ place, message: `responded with ${response.status} and ${response.bytes} bytes` }];
      });
    },
  },
];

function everyResponse(
  requests: readonly RequestKind[],
  violations: (response: LoadedResponse, presentation: Presentation) => string[],
): Rule['check'] {
  return (presentation) => {
    const responses = presentation.responses.filter(({ request }) => requests.includes(request));
    return judgeEach(responses, NOT_REQUESTED, (response): Finding[] =>
      violations(response, presentation).map((message) => ({
        place: shortAddress(response.url, presentation.url),
        message,
      })),
    );
  };
}

/** Whether it never changes. */
function isMedia(kind: LoadedResponse['kind']): boolean {
  return kind === 'segment' || kind === 'initialization section';
}

function isRightCaching(kind: LoadedResponse['kind'], caching: string): boolean {
  if (kind === 'key') return /\bno-store\b/.test(caching);
  const age = Number(/\bmax-age=(\d+)/.exec(caching)?.[1] ?? Number.NaN);
  if (isMedia(kind)) return age >= YEAR_SECONDS && /\bpublic\b/.test(caching);
  return /\bno-(store|cache)\b/.test(caching) || age <= 60;
}
