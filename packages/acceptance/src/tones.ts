import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const SAMPLE_RATE = 48_000;

/** The tone that ffmpeg hears in a file or stream, from second `from` to second `to`; null in silence. */
export async function heardTone(
  source: string,
  { from, to, tones }: { from: number; to: number; tones: readonly number[] },
  ...options: string[]
): Promise<number | null> {
  const { stdout } = await promisify(execFile)(
    'ffmpeg',
    [
      ...['-v', 'error', '-nostdin', '-i', source, ...options],
      ...['-ss', String(from), '-t', String(to - from), '-vn', ...AS_SAMPLES],
    ],
    { encoding: 'buffer', maxBuffer: 64 * 1024 ** 2 },
  );
  return loudestTone(readSamples(stdout), tones);
}

/** The loudest of some tones (in hertz) in mono samples at 48 kHz; null in silence. */
function loudestTone(samples: Float32Array, hertz: readonly number[]): number | null {
  const found = hertz
    .map((tone) => ({ tone, loudness: loudnessOf(samples, tone) }))
    .toSorted((a, b) => b.loudness - a.loudness)[0];
  return found && found.loudness > 0.01 ? found.tone : null;
}

/** The amplitude of a tone, with 1 as full scale. */
function loudnessOf(samples: Float32Array, hertz: number): number {
  const step = (2 * Math.PI * hertz) / SAMPLE_RATE;
  let [real, imaginary] = [0, 0];
  for (const [at, sample] of samples.entries()) {
    real += sample * Math.cos(step * at);
    imaginary += sample * Math.sin(step * at);
  }
  return (2 * Math.hypot(real, imaginary)) / samples.length;
}

/** The options with which ffmpeg writes audio to its standard output as `readSamples` reads it. */
const AS_SAMPLES = ['-ac', '1', '-ar', String(SAMPLE_RATE), '-f', 'f32le', '-'];

/** Samples from the output of ffmpeg. */
function readSamples(output: Buffer): Float32Array {
  return new Float32Array(new Uint8Array(output).buffer, 0, Math.floor(output.length / 4));
}
