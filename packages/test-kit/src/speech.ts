import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { runProgram } from './run-program.ts';

/** A sentence, and when it begins in seconds. */
export type Spoken = { at: number; text: string };

/** Why this machine cannot speak and recognise speech; null if it can. */
export function speechObstacle(): string | null {
  for (const program of ['espeak-ng', 'pocketsphinx_continuous']) {
    try {
      execFileSync('which', [program], { stdio: 'ignore' });
    } catch {
      return `${program} is not installed`;
    }
  }
  return null;
}

/** Writes a WAV file of this duration in which sentences are spoken. */
export async function speak(path: string, sentences: readonly Spoken[], seconds: number): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'speech-'));
  try {
    const inputs: string[] = [];
    for (const [at, { text }] of sentences.entries()) {
      const file = join(directory, `${at}.wav`);
      await runProgram('espeak-ng', ['-v', 'en-us', '-s', '130', '-w', file, text]);
      inputs.push('-i', file);
    }
    const delayed = sentences.map(
      ({ at }, index) => `[${index}]aresample=48000,adelay=${at * 1000}[s${index}]`,
    );
    const mixed = `${sentences.map((_, index) => `[s${index}]`).join('')}amix=inputs=${sentences.length}:normalize=0,apad`;
    await runProgram('ffmpeg', [
      ...['-v', 'error', '-y', ...inputs, '-filter_complex', `${delayed.join(';')};${mixed}`],
      ...['-t', String(seconds), path],
    ]);
    return path;
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** A request that a speech server has got. */
export type SpeechRequest = {
  fields: Readonly<Record<string, string[]>>;
  authorization: string | undefined;
  /** Bytes of the file. */
  bytes: number;
};

/**
 * A speech recogniser with `POST /v1/audio/transcriptions` of OpenAI's API, by pocketsphinx with its English model. It knows some sentences, so
 * that it understands a synthetic voice; when each word is spoken is what it hears.
 */
export class SpeechServer {
  readonly url: string;
  readonly requests: SpeechRequest[] = [];
  /** Takes the place of the recogniser, for requests from now on. */
  answer: ((response: ServerResponse, request: IncomingMessage) => void) | undefined;
  readonly #server: Server;
  readonly #directory: string;
  readonly #grammar: string;

  private constructor(server: Server, directory: string, grammar: string) {
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    this.#server = server;
    this.#directory = directory;
    this.#grammar = grammar;
  }

  static async start(sentences: readonly string[], port = 0): Promise<SpeechServer> {
    const directory = await mkdtemp(join(tmpdir(), 'recogniser-'));
    const grammar = join(directory, 'sentences.jsgf');
    await writeFile(grammar, grammarOf(sentences));
    const server = createServer();
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    const speech = new SpeechServer(server, directory, grammar);
    server.on('request', (request, response) => {
      speech.#respond(request, response).catch((error: unknown) => {
        response.destroy(error as Error);
      });
    });
    return speech;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const form = await new Response(new Uint8Array(body), {
      headers: { 'Content-Type': request.headers['content-type'] ?? '' },
    }).formData();
    const fields: Record<string, string[]> = {};
    for (const [name, value] of form)
      if (typeof value === 'string') fields[name] = [...(fields[name] ?? []), value];
    const file = form.get('file');
    if (!(file instanceof Blob) || request.url !== '/v1/audio/transcriptions') {
      response.writeHead(422).end();
      return;
    }
    this.requests.push({ fields, authorization: request.headers.authorization, bytes: file.size });
    if (this.answer !== undefined) {
      this.answer(response, request);
      return;
    }
    const path = join(this.#directory, `${this.requests.length}.wav`);
    await writeFile(path, new Uint8Array(await file.arrayBuffer()));
    const segments = await recognize(path, this.#grammar);
    await rm(path);
    const text = segments.map((segment) => segment.text).join('');
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ task: 'transcribe', language: 'english', text, segments }));
  }
}

/** A shell script with the arguments and the output of `whisper-cli`, by pocketsphinx. It takes the grammar as its model. */
export async function writeWhisperCli(
  directory: string,
  sentences: readonly string[],
): Promise<{ program: string; model: string }> {
  const [program, model] = [join(directory, 'whisper-cli'), join(directory, 'sentences.jsgf')];
  await writeFile(model, grammarOf(sentences));
  await writeFile(program, WHISPER_CLI, { mode: 0o755 });
  return { program, model };
}

const WHISPER_CLI = `#!/bin/sh
while [ $# -gt 0 ]; do
  case "$1" in
    -m) model=$2; shift ;;
    -f) sound=$2; shift ;;
    -of) output=$2; shift ;;
    -l|-t) shift ;;
  esac
  shift
done
/usr/bin/pocketsphinx_continuous -infile "$sound" -time yes -jsgf "$model" -logfn /dev/null | awk '
  BEGIN { printf "{\\"result\\": {\\"language\\": \\"en\\"}, \\"transcription\\": [" }
  NF == 4 && $2 + 0 == $2 { if ($1 !~ /^</) { sub(/\\(.*/, "", $1); words = words (words == "" ? "" : ", ") \
    "{\\"text\\": \\" " $1 "\\", \\"offsets\\": {\\"from\\": " int($2 * 1000) ", \\"to\\": " int($3 * 1000) "}}"; end = int($3 * 1000); if (start == "") start = int($2 * 1000) } next }
  function finish() { if (text != "") { printf "%s{\\"text\\": \\" %s.\\", \\"offsets\\": {\\"from\\": %d, \\"to\\": %d}, \\"tokens\\": [%s]}", comma, text, start, end, words; comma = "," } words = ""; start = "" }
  { finish(); text = toupper(substr($0, 1, 1)) substr($0, 2) }
  END { finish(); print "]}" }' > "$output.json"
`;

/** A grammar of JSGF that knows these sentences. */
function grammarOf(sentences: readonly string[]): string {
  const words = sentences.map((sentence) => sentence.toLowerCase().replaceAll(/[^a-z' ]/g, ''));
  return `#JSGF V1.0;\ngrammar sentences;\npublic <sentence> = ${words.join(' | ')};\n`;
}

type HeardSegment = {
  id: number;
  start: number;
  end: number;
  text: string;
  words: { word: string; start: number; end: number }[];
};

/** The utterances in a WAV file, as sentences. */
async function recognize(path: string, grammar: string): Promise<HeardSegment[]> {
  const { stdout } = await runProgram('pocketsphinx_continuous', [
    ...['-infile', path, '-time', 'yes', '-jsgf', grammar, '-logfn', '/dev/null'],
  ]);
  const segments: HeardSegment[] = [];
  for (const line of stdout.split('\n')) {
    const [, word = '', start, end] = /^(\S+) (\d+\.\d+) (\d+\.\d+) \d+\.\d+$/.exec(line) ?? [];
    if (word !== '') {
      const heard = { word: ` ${word.replace(/\(\d+\)$/, '')}`, start: Number(start), end: Number(end) };
      if (!word.startsWith('<')) segments.at(-1)?.words.push(heard);
    } else if (line.trim() !== '') {
      const text = ` ${line.charAt(0).toUpperCase()}${line.slice(1)}.`;
      segments.push({ id: segments.length, start: 0, end: 0, text, words: [] });
    }
  }
  for (const segment of segments) {
    segment.start = segment.words[0]?.start ?? 0;
    segment.end = segment.words.at(-1)?.end ?? 0;
  }
  return segments.filter(({ words }) => words.length > 0);
}
