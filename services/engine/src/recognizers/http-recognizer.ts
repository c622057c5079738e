import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { readRetryAfter } from '@framelane/service-kit/retry-after';
import { sendDirectly } from '../direct-request.ts';
import { MAX_ANSWER_BYTES, type Recognizer } from './recognizer.ts';
import { recognizerFailure, recognizerTimeout } from './recognizer-failure.ts';
import type { HttpRecognizerSettings } from './recognizer-settings.ts';

/** Long enough for a sentence, so that words are not torn apart, and short enough for the memory of any server. */
const MAX_SECONDS = 60;

/** A server that restarts loads its model for a while. */
const RETRY_DELAYS_MS = [500, 5000, 30_000];

/** Characters of an error that are logged. */
const LOGGED = 300;

/** Responses after which another try may succeed, besides those of 500 and above. */
const RETRYABLE = [408, 425, 429];

/** Many servers are behind nginx, which takes 1 MiB by default: half a minute. */
const TOO_LARGE = 413;

/** A server with `POST /audio/transcriptions` as in OpenAI's API. It gets each part of the sound in one request. */
export function httpRecognizer(
  { url, model, timeoutSeconds }: HttpRecognizerSettings & { timeoutSeconds: number },
  apiKey: string | undefined,
): Recognizer {
  return {
    maxSeconds: MAX_SECONDS,
    retryDelaysMs: RETRY_DELAYS_MS,
    isLocal: false,
    recognize: async ({ wav }, { language, signal }) => {
      const timeout = AbortSignal.timeout(timeoutSeconds * 1000);
      try {
        const response = await sendDirectly(`${url}/audio/transcriptions`, {
          ...multipart(wav, {
            response_format: 'verbose_json',
            'timestamp_granularities[]': ['word', 'segment'],
            ...(model !== undefined && { model }),
            ...(language !== null && { language }),
          }),
          ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
          // While a part is read and recognised, an idle connection could be closed or forgotten, and the next part would get no response on it.
          keepAlive: false,
          signal: AbortSignal.any([signal, timeout]),
        });
        return await read(response);
      } catch (error) {
        signal.throwIfAborted();
        if (timeout.aborted) throw recognizerTimeout(timeoutSeconds);
        if (error instanceof Error && error.name === 'TranscodeFailure') throw error;
        throw recognizerFailure('The recogniser could not be reached', { retryable: true, cause: error });
      }
    },
  };
}

async function read(response: IncomingMessage): Promise<string> {
  const status = response.statusCode ?? 0;
  const body = await bounded(response);
  if (status === 200) return body;
  throw recognizerFailure(`The recogniser responded with ${status}: ${body.slice(0, LOGGED)}`, {
    retryable: status >= 500 || RETRYABLE.includes(status),
    retryAfterSeconds: readRetryAfter(response.headers['retry-after'], new Date()) ?? 0,
    isTooLong: status === TOO_LARGE,
  });
}

/** The text of a response. Throws once it is too large. */
async function bounded(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Leaving the loop destroys the response.
    if (bytes > MAX_ANSWER_BYTES)
      throw recognizerFailure('The response of the recogniser is too large', { retryable: false });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** A form (RFC 7578) with a file and texts. */
function multipart(
  wav: Buffer,
  fields: Readonly<Record<string, string | readonly string[]>>,
): { body: Buffer; contentType: string } {
  const boundary = `framelane-${randomUUID()}`;
  const part = (disposition: string) => `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n`;
  const texts = Object.entries(fields).flatMap(([name, values]) =>
    [values].flat().map((value) => `${part(`name="${name}"`)}\r\n${value}\r\n`),
  );
  const file = `${part('name="file"; filename="sound.wav"')}Content-Type: audio/wav\r\n\r\n`;
  return {
    body: Buffer.concat([Buffer.from(texts.join('') + file), wav, Buffer.from(`\r\n--${boundary}--\r\n`)]),
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}
