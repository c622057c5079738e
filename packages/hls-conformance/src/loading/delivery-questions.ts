import { isDeepStrictEqual } from 'node:util';
import type { Answer, Presentation, Question, ResourceKind } from '../presentation.ts';
import { answerOf, noAnswer } from './fetching.ts';
import type { HttpClient, OpenAnswer } from './http-client.ts';

/** Where the first bytes asked for begin and end; the last ones are as many as a block of AES has. */
const [FROM, TO] = [100, 1123];
const LAST_BYTES = 16;

/** A resource all questions are put to. */
type Subject = { kind: ResourceKind; url: string; whole: Answer };

/**
 * Asks what a player or a cache asks about a resource besides for all of it: one playlist, segment and key of each kind
 * and rendition.
 */
export async function askAboutDelivery(client: HttpClient, presentation: Presentation): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const subject of subjectsOf(presentation)) {
    for (const [question, method, headers] of questionsTo(subject)) {
      answers.push(await ask(client, subject, question, method, headers));
    }
    if (subject.kind === 'segment') answers.push(...(await askForParts(client, subject)));
  }
  return answers;
}

function subjectsOf({ url, renditions, keys, answers }: Presentation): Subject[] {
  const urls = [url, ...keys.map((key) => key.url)];
  for (const rendition of renditions)
    urls.push(rendition.url, ...rendition.segments.slice(0, 1).map((each) => each.url));
  return [...new Set(urls)].flatMap((address) => {
    const whole = answers.find((answer) => answer.url === address && answer.status === 200);
    return whole ? [{ kind: whole.kind, url: address, whole }] : [];
  });
}

function questionsTo({ whole }: Subject): [Question, string, Record<string, string>][] {
  const { etag, 'last-modified': modified } = whole.headers;
  const condition = etag ? { 'If-None-Match': etag } : modified ? { 'If-Modified-Since': modified } : null;
  return [
    ['head', 'HEAD', {}],
    ...(condition
      ? ([['unchanged', 'GET', condition]] satisfies [Question, string, Record<string, string>][])
      : []),
    [
      'preflight',
      'OPTIONS',
      { 'Access-Control-Request-Method': 'GET', 'Access-Control-Request-Headers': 'range' },
    ],
    ['what does not exist', 'GET', {}],
  ];
}

async function ask(
  client: HttpClient,
  { kind, url }: Subject,
  question: Question,
  method: string,
  headers: Record<string, string>,
): Promise<Answer> {
  const address = question === 'what does not exist' ? new URL('no-such-thing-hls-check', url).href : url;
  try {
    const opened = await client.ask(address, method, headers);
    const bytes = (await readEnds(opened)).length;
    return { ...answerOf(kind, address, opened), question, bytes };
  } catch (error) {
    return { ...noAnswer(kind, address, error), question };
  }
}

/** Compares parts of a segment with the whole of it. */
async function askForParts(client: HttpClient, { url }: Subject): Promise<Answer[]> {
  const whole = await client.ask(url).then(readEnds, () => null);
  if (whole === null) return [];
  const { length } = whole;
  const end = Math.min(TO, length - 1);
  const parts: [Question, string, Part][] = [
    [
      'first bytes',
      `bytes=${FROM}-${TO}`,
      { from: FROM, to: end, bytes: whole.first.subarray(FROM, end + 1) },
    ],
    ['last bytes', `bytes=-${LAST_BYTES}`, { from: length - LAST_BYTES, to: length - 1, bytes: whole.last }],
  ];
  const answers: Answer[] = [];
  for (const [question, range, part] of parts) {
    answers.push(await askForPart(client, url, question, range, { ...part, length }));
  }
  answers.push(await askForPart(client, url, 'bytes beyond the end', `bytes=${length}-`, null));
  return answers;
}

type Part = { from: number; to: number; bytes: Buffer };

async function askForPart(
  client: HttpClient,
  url: string,
  question: Question,
  range: string,
  part: (Part & { length: number }) | null,
): Promise<Answer> {
  try {
    const opened = await client.ask(url, 'GET', { Range: range });
    const sent = await readEnds(opened);
    const answer = { ...answerOf('segment', url, opened), question, bytes: sent.length };
    if (part === null) return answer;
    const rightRange = opened.headers['content-range'] === `bytes ${part.from}-${part.to}/${part.length}`;
    const rightBytes = sent.length === part.bytes.length && isDeepStrictEqual(sent.first, part.bytes);
    return { ...answer, matches: rightRange && rightBytes };
  } catch (error) {
    return { ...noAnswer('segment', url, error), question };
  }
}

/** Reads a body to its end and keeps the beginning and the end of it. */
async function readEnds({ body }: OpenAnswer): Promise<{ length: number; first: Buffer; last: Buffer }> {
  let [length, first, last] = [0, Buffer.alloc(0), Buffer.alloc(0)];
  for await (const part of body) {
    const chunk = part as Buffer;
    length += chunk.length;
    if (first.length <= TO) first = Buffer.concat([first, chunk.subarray(0, TO + 1 - first.length)]);
    last = Buffer.concat([last, chunk.subarray(-LAST_BYTES)]).subarray(-LAST_BYTES);
  }
  return { length, first, last };
}
