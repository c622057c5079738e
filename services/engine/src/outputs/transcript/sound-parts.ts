import type { OutputFile } from '../../sandbox/tool-output.ts';
import { incompleteOutput } from '../../transcode-failure.ts';
import { audible, loudnessOf, quietCut, SAMPLE_RATE, STEP_SAMPLES } from './quiet-cut.ts';
import { SAMPLE_BYTES, WAV_HEADER_BYTES, writeWavHeader } from './wav.ts';

/** Samples whose loudness is measured at once, in about a tenth of a millisecond: other work of the engine need not wait for a whole part. */
const SLICE_SAMPLES = 500 * STEP_SAMPLES;

/** whisper.cpp ignores sound of less than a second, and OpenAI refuses less than a tenth. Silence is added to it. */
const MIN_WAV_SECONDS = 1.1;

/** A part of the sound, and what can be heard in it, in samples from the beginning of the part; undefined if that is nothing. */
export type SoundPart = { samples: number; heard: { from: number; end: number } | undefined };

/** The part from a sample on, up to a quiet place; to the end if there are at most `most` samples. Throws a TranscodeFailure if the file is too short. */
export async function nextPart(
  file: OutputFile,
  { from, end, most }: { from: number; end: number; most: number },
): Promise<SoundPart> {
  const length = Math.min(most, end - from);
  const loudness = new Uint32Array(Math.floor(length / STEP_SAMPLES));
  const slice = new Int16Array(Math.min(SLICE_SAMPLES, length));
  for (let at = 0; at < length; at += SLICE_SAMPLES) {
    const samples = slice.subarray(0, length - at);
    await readSamples(file, from + at, samples);
    loudness.set(loudnessOf(samples), at / STEP_SAMPLES);
  }
  const samples = length < end - from ? quietCut(loudness) : length;
  return { samples, heard: audible(loudness.subarray(0, Math.floor(samples / STEP_SAMPLES))) };
}

/** A WAV file of these samples. */
export async function readWav(file: OutputFile, from: number, end: number): Promise<Buffer> {
  const bytes = SAMPLE_BYTES * Math.max(end - from, Math.ceil(MIN_WAV_SECONDS * SAMPLE_RATE));
  const wav = Buffer.alloc(WAV_HEADER_BYTES + bytes);
  writeWavHeader(wav);
  // All machines that run Framelane are little-endian, as WAV is.
  await readSamples(
    file,
    from,
    wav.subarray(WAV_HEADER_BYTES, WAV_HEADER_BYTES + SAMPLE_BYTES * (end - from)),
  );
  return wav;
}

async function readSamples({ handle }: OutputFile, from: number, into: Int16Array | Buffer): Promise<void> {
  const { bytesRead } = await handle.read(into, 0, into.byteLength, from * SAMPLE_BYTES);
  if (bytesRead < into.byteLength) throw incompleteOutput('The decoded sound is shorter than its file was');
}
