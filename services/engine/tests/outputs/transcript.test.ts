import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cue, MAX_CAPTIONS_BYTES } from '@framelane/captions/captions';
import { readCaptions } from '@framelane/captions/read-captions';
import type { StoredTrack } from '@framelane/contracts/internal-api';
import type { TranscriptResult } from '@framelane/contracts/outputs/transcript';
import { ffmpeg } from '@framelane/test-kit/ffmpeg';
import { requires } from '@framelane/test-kit/requires';
import {
  SpeechServer,
  type Spoken,
  speak,
  speechObstacle,
  writeWhisperCli,
} from '@framelane/test-kit/speech';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import { httpRecognizer } from '../../src/recognizers/http-recognizer.ts';
import { readAnswer } from '../../src/recognizers/read-answer.ts';
import { MAX_ANSWER_BYTES } from '../../src/recognizers/recognizer.ts';
import { TaskBench, type TaskVideo } from '../support/task-bench.ts';

const { describe, test } = requires('speech', speechObstacle());

const SENTENCES: Spoken[] = [
  { at: 2, text: 'Good morning this is a test of the system.' },
  { at: 40, text: 'The weather is fine today.' },
  // The only pause after it is at the end of the first minute.
  { at: 58, text: 'Please open the window before dinner.' },
  { at: 70, text: 'The weather is fine today.' },
];
const SECONDS = 75;

/** The times of captions may differ by this from what is spoken. */
const TOLERANCE_MS = 200;

let server: SpeechServer;
let directory: string;
let bench: TaskBench;
let video: TaskVideo;
let track: StoredTrack;

beforeAll(async () => {
  if (speechObstacle() !== null) return;
  const texts = [...new Set(SENTENCES.map(({ text }) => text))];
  server = await SpeechServer.start(texts);
  directory = await mkdtemp(join(tmpdir(), 'transcript-'));
  await chmod(directory, 0o755);
  const program = await writeWhisperCli(directory, texts);
  // In a sandbox, the stand-in for the program could start no other program.
  bench = await TaskBench.start({
    sandbox: 'none',
    recognizer: { kind: 'program', ...program, timeoutSeconds: 60, slots: 1 },
  });
  const speech = await speak(join(directory, 'speech.wav'), SENTENCES, SECONDS);
  const clip = join(directory, 'clip.mkv');
  await ffmpeg(
    ...[
      '-f',
      'lavfi',
      '-i',
      `color=s=320x180:r=2:d=${SECONDS}`,
      '-i',
      speech,
      '-pix_fmt',
      'yuv420p',
      '-map',
      '0',
      '-map',
      '1',
    ],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '4', '-c:a', 'aac', clip],
  );
  ({ video } = await bench.transcode(clip, 30));
  [track] = (await bench.tracks(video.videoId, ['audio'])) as [StoredTrack];
});
afterEach(() => {
  if (server !== undefined) server.answer = undefined;
});
afterAll(async () => {
  await bench?.stop();
  await server?.stop();
  if (directory !== undefined) await rm(directory, { recursive: true });
});

/** The recogniser that the server is. */
function remote(timeoutSeconds = 20) {
  const recognizer = httpRecognizer(
    { kind: 'http', url: server.url, model: 'small', timeoutSeconds },
    'its key',
  );
  return { ...recognizer, retryDelaysMs: [1, 1] };
}

async function transcribe(
  { requested = '', language = null }: { requested?: string; language?: string | null } = {},
  changes: Parameters<TaskBench['derive']>[2] = {},
): Promise<TranscriptResult> {
  const tracks = [{ ...track, language }];
  const work = { kind: 'transcript', requested, rendition: 'audio' } as const;
  const job = { work, tracks, duration: SECONDS };
  const { result } = await bench.derive(video, job, { recognizer: remote(), ...changes });
  return result.transcript as TranscriptResult;
}

const cuesIn = ({ webvtt }: TranscriptResult): Cue[] => readCaptions(Buffer.from(webvtt), 'webvtt', SECONDS);

const answerWith = (body: object | string, status = 200) => {
  server.answer = (response) => {
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
};

function expectSpoken(result: TranscriptResult): void {
  const cues = cuesIn(result);
  expect(cues.map(({ text }) => text.replaceAll('\n', ' '))).toEqual(SENTENCES.map(({ text }) => text));
  for (const [at, { start, end }] of cues.entries()) {
    // The end of a sentence of 2 to 3 seconds is not known exactly.
    expect(Math.abs(start - 1000 * (SENTENCES[at]?.at ?? 0))).toBeLessThanOrEqual(TOLERANCE_MS);
    expect(end - start).toBeGreaterThan(1500);
    expect(end - start).toBeLessThan(3200);
  }
}

describe('speech becomes captions', () => {
  test('by a server: sentences at their times, in parts that are cut in pauses', async () => {
    const before = server.requests.length;
    const fractions: number[] = [];
    const result = await transcribe({}, { onProgress: (fraction) => fractions.push(fraction) });
    expectSpoken(result);
    expect(result).toMatchObject({ requested: '', language: 'en' });
    // Without the silence at the beginning and the end of each part.
    expect(Math.abs(result.seconds - 54)).toBeLessThan(3);
    const requests = server.requests.slice(before);
    expect(requests).toHaveLength(2);
    expect(requests[0]).toMatchObject({
      authorization: 'Bearer its key',
      fields: {
        model: ['small'],
        response_format: ['verbose_json'],
        'timestamp_granularities[]': ['word', 'segment'],
      },
    });
    expect(requests[0]?.fields).not.toHaveProperty('language');
    expect(fractions).toEqual(fractions.toSorted((a, b) => a - b));
    expect(fractions.at(-1)).toBe(1);
  });

  test('by a local program', async () => {
    const before = server.requests.length;
    const work = { kind: 'transcript', requested: '', rendition: 'audio' } as const;
    const { result } = await bench.derive(video, { work, tracks: [track], duration: SECONDS });
    expectSpoken(result.transcript as TranscriptResult);
    expect(result.transcript?.language).toBe('en');
    expect(server.requests).toHaveLength(before);
  });
});

test('a local program is confined: it reads its model and the sound, and writes its answer', async () => {
  const program = join(directory, 'probe');
  const outside = join(directory, 'speech.wav');
  // Without a fork: the sandbox allows none.
  const script = `#!/bin/sh
    see() { if read -r line < "$1"; then text="$text $2"; fi; } 2> /dev/null
    see "$2" model; see "$4" sound; see ${outside} outside; see /etc/hostname system; see /proc/self/environ secrets
    echo "{\\"transcription\\": [{\\"text\\": \\"$text\\", \\"offsets\\": {\\"from\\": 0, \\"to\\": 900}}]}" > "\${11}.json"`;
  await writeFile(program, script, { mode: 0o755 });
  const model = join(directory, 'sentences.jsgf');
  const recognizer = { kind: 'program', program, model, timeoutSeconds: 20, slots: 1 } as const;
  const confined = await TaskBench.start({ recognizer });
  const answer = await confined.inJob((job, context) =>
    context.recognizer?.recognize(
      { wav: Buffer.from('RIFF\n'), seconds: 1 },
      { language: null, directory: job, signal: context.signal },
    ),
  );
  await confined.stop();
  expect(readAnswer({ answer: answer ?? '', seconds: 1 })).toMatchObject({
    words: [{ text: ' model' }, { text: ' sound' }],
  });
});

describe('a recogniser that cannot be trusted', () => {
  const failed = (retryable: boolean, code = 'transcode_failed') =>
    expect.objectContaining({ name: 'TranscodeFailure', code, retryable });

  test('a script in the text is text', async () => {
    answerWith({
      language: 'en',
      segments: [{ start: 1, end: 3, text: ' <script>alert(1)</script> --> & \u0000<00:00:05.000>' }],
    });
    const [cue] = cuesIn(await transcribe());
    expect(cue?.text).toBe('&lt;script&gt;alert(1)&lt;/script&gt;\n--&gt; &amp; &lt;00:00:05.000&gt;');
  });

  test('times that are wrong are moved into the sound', async () => {
    answerWith(
      '{"language": "xx-nonsense-language-of-nobody", "segments": [' +
        '{"start": -5, "end": NaN, "text": "One."}, {"start": 1e300, "end": -Infinity, "text": "Two."}, {"start": "3", "text": "Three."}]}',
    );
    const cues = cuesIn(await transcribe({ language: 'de' }));
    for (const { start, end } of cues) {
      expect(start).toBeGreaterThanOrEqual(0);
      expect(end).toBeGreaterThan(start);
      expect(end).toBeLessThanOrEqual(SECONDS * 1000 + 1);
    }
    expect(await transcribe({ language: 'de' })).toMatchObject({ language: 'de' });
  });

  test('huge words and endless text are cut', async () => {
    answerWith({ segments: [{ start: 0, end: 60, text: 'x'.repeat(1_000_000) }] });
    const result = await transcribe();
    expect(result.webvtt.length).toBeLessThan(MAX_CAPTIONS_BYTES);
    for (const { text } of cuesIn(result))
      for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(42);
  });

  test.each([
    ['invalid JSON', '{"segments": [', true],
    ['another kind of JSON', '[1, 2]', true],
    ['deep JSON', '['.repeat(100_000), true],
    ['nothing', '', true],
  ])(
    '%s fails the try',
    async (_, body, retryable) => {
      answerWith(body);
      await expect(transcribe()).rejects.toEqual(failed(retryable));
    },
    60_000,
  );

  test('a refusal is not repeated, and an error of the server is', async () => {
    answerWith({ detail: 'No such model' }, 404);
    await expect(transcribe()).rejects.toEqual(failed(false));
    const before = server.requests.length;
    answerWith({}, 503);
    await expect(transcribe()).rejects.toEqual(failed(true));
    expect(server.requests.length - before).toBe(3);
  }, 60_000);

  test('parts that are too large for a server are sent in halves', async () => {
    const before = server.requests.length;
    // The limit of nginx.
    const limit = 1024 ** 2;
    server.answer = (response) => {
      const isTooLarge = (server.requests.at(-1)?.bytes ?? 0) > limit;
      response.writeHead(isTooLarge ? 413 : 200);
      response.end(JSON.stringify({ segments: [{ start: 0, end: 2, text: 'It is heard.' }] }));
    };
    const result = await transcribe();
    expect(cuesIn(result).length).toBeGreaterThan(1);
    const sizes = server.requests.slice(before).map(({ bytes }) => bytes);
    expect(sizes.filter((bytes) => bytes > limit)).toHaveLength(1);
    expect(sizes.length).toBeGreaterThan(3);
    answerWith({}, 413);
    await expect(transcribe()).rejects.toEqual(failed(false));
  }, 60_000);

  test('a server that asks for a pause gets it, and each request has a connection of its own', async () => {
    const connections = new Set<unknown>();
    const before = server.requests.length;
    server.answer = (response, request) => {
      connections.add(request.socket);
      const isFirst = server.requests.length === before + 1;
      response.writeHead(isFirst ? 429 : 200, isFirst ? { 'Retry-After': '1' } : {});
      response.end(JSON.stringify({ segments: [{ start: 0, end: 2, text: 'It is heard.' }] }));
    };
    const begun = performance.now();
    expect(cuesIn(await transcribe()).length).toBeGreaterThan(0);
    expect(performance.now() - begun).toBeGreaterThan(999);
    expect(connections.size).toBe(server.requests.length - before);
    expect(connections.size).toBeGreaterThan(1);
  });

  test('an endless response is cut off', async () => {
    let sent = 0;
    const closed = Promise.withResolvers<void>();
    server.answer = (response) => {
      response.writeHead(200).on('close', () => closed.resolve());
      const send = (): void => {
        sent += 65_536;
        if (!response.destroyed) response.write(Buffer.alloc(65_536, ' '), send);
      };
      send();
    };
    await expect(transcribe()).rejects.toEqual(failed(false));
    await closed.promise;
    expect(sent).toBeLessThan(MAX_ANSWER_BYTES + 8 * 1024 ** 2);
  });

  test('the language that is named is used, whatever the answer says', async () => {
    const before = server.requests.length;
    answerWith({ language: 'german', segments: [{ start: 0, end: 3, text: 'One.' }] });
    expect(await transcribe({ requested: 'en-GB' })).toMatchObject({ requested: 'en-GB', language: 'en-GB' });
    expect(server.requests.slice(before).map(({ fields }) => fields.language)).toEqual([['en'], ['en']]);
  });

  test('silence in the answer is no speech', async () => {
    answerWith({
      segments: [
        { start: 0, end: 2, text: ' [BLANK_AUDIO]' },
        { start: 2, end: 4, text: ' Thanks for watching!', no_speech_prob: 0.9, avg_logprob: -1.4 },
      ],
    });
    expect((await transcribe()).webvtt).toBe('');
  });

  test('a server that hangs is left after its time, or at once when the try ends', async () => {
    const hanging: ServerResponse[] = [];
    server.answer = (response) => void hanging.push(response);
    const sound = { wav: Buffer.alloc(44), seconds: 1 };
    const signal = new AbortController().signal;
    const request = remote(1).recognize(sound, { language: null, directory, signal });
    await expect(request).rejects.toEqual(failed(true, 'transcode_timeout'));
    const stopping = new AbortController();
    const before = hanging.length;
    const stopped = transcribe({}, { signal: stopping.signal });
    void until(() => hanging.length > before).then(() => stopping.abort(new Error('The engine stops')));
    await expect(stopped).rejects.toThrow('The engine stops');
    const jobs = (await readdir(join(bench.directory, 'work'))).filter((name) => name.startsWith('job-'));
    expect(jobs).toEqual([]);
  });
});
