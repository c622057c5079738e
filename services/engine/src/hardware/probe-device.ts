import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Hardware } from '@framelane/contracts/hardware';
import { PACKAGING_NAMES } from '@framelane/contracts/packaging';
import { VIDEO_CODECS, type VideoCodec, type VideoRendition } from '@framelane/contracts/renditions';
import type { HardwareEncoder, HardwareVariant } from '../encoders/encoder.ts';
import { encoderOfCodec, readerOf } from '../encoders/encoders.ts';
import type { HardwareRun } from '../ffmpeg/hardware-run.ts';
import type { MediaTools } from '../ffmpeg/media-tools.ts';
import { InvalidSegmentError, type Packager, type SegmentInfo } from '../packagers/packager.ts';
import { packagerOf } from '../packagers/packagers.ts';
import { initializationFile, segmentFile } from '../packagers/segment-files.ts';
import type { MaxRates } from '../plan/ladder.ts';
import { DeviceError } from '../sandbox/device-access.ts';
import { grantFolder, OUTPUT_FOLDER } from '../sandbox/job-folder.ts';
import { runTool, ToolError } from '../sandbox/run-tool.ts';
import { readFrom, ToolOutput } from '../sandbox/tool-output.ts';
import { explainDeviceFailure } from './device-failure.ts';
import { compareArguments, encodeArguments, PROBE, probedRenditions } from './probe-arguments.ts';
import { segmentFlaw } from './segment-flaw.ts';

export type ProbeContext = {
  tools: MediaTools;
  maxRates: MaxRates;
  /** The probe creates its directory here. */
  jobsDir: string;
  signal: AbortSignal;
};

/** Far more than a second of video takes, also without a device. */
const PROBE_SECONDS = 120;
const MAX_SEGMENT_BYTES = 64 * 1024 ** 2;

/** Frames of another picture, such as green ones, resemble the clip less. */
const MIN_SIMILARITY = 0.6;

/**
 * Finds out what a device can do: encodes a generated clip with each encoder of its interface, as jobs do, and checks the result. Resolves with the
 * first variant that works, by codec. Throws a DeviceError with the reason if none does, and the reason of the signal when it aborts.
 */
export async function probeDevice(
  device: Pick<HardwareRun, 'hardware' | 'device'>,
  context: ProbeContext,
): Promise<HardwareRun['variants']> {
  const found = new Map<VideoCodec, HardwareVariant>();
  let reason: Error | undefined;
  for (const [codec, encoder] of encodersOf(device.hardware)) {
    for (const variant of encoder.variants) {
      try {
        const run = { ...device, variants: new Map([[codec, variant]]) };
        for (const packaging of PACKAGING_NAMES)
          await probeVariant(run, { codec, packager: packagerOf(packaging) }, context);
        found.set(codec, variant);
        break;
      } catch (error) {
        context.signal.throwIfAborted();
        // That of the first variant says most: the others are for devices that can do less.
        reason ??= error as Error;
      }
    }
  }
  if (found.size === 0) throw new DeviceError(reasonOf(reason), { cause: reason });
  return found;
}

function encodersOf(hardware: Hardware): (readonly [VideoCodec, HardwareEncoder])[] {
  return VIDEO_CODECS.flatMap((codec) => {
    const encoder = encoderOfCodec(codec).hardware[hardware];
    return encoder === undefined ? [] : [[codec, encoder] as const];
  });
}

function reasonOf(error: unknown): string {
  if (error instanceof DeviceError) return error.message;
  if (error instanceof ToolError) {
    if (error.end === 'timeout') return `The device encoded no second of video in ${PROBE_SECONDS} s.`;
    return explainDeviceFailure(error.stderr);
  }
  return `The device could not be probed: ${error instanceof Error ? error.message : String(error)}`;
}

async function probeVariant(
  run: HardwareRun,
  { codec, packager }: { codec: VideoCodec; packager: Packager },
  { tools, maxRates, jobsDir, signal }: ProbeContext,
): Promise<void> {
  const renditions = probedRenditions(codec, maxRates);
  const cwd = await mkdtemp(join(jobsDir, 'probe-'));
  try {
    await grantFolder(cwd, 'pass', tools.account);
    const folder = join(cwd, OUTPUT_FOLDER);
    await mkdir(folder);
    await grantFolder(folder, 'write', tools.account);
    const output = await ToolOutput.open(folder);
    try {
      const options = { cwd, signal, limitSeconds: PROBE_SECONDS };
      const program = tools.deviceFfmpeg ?? tools.ffmpeg;
      await runTool(program, encodeArguments(run, renditions, packager), { ...options, onLine: () => {} });
      const { obstacle } = encoderOfCodec(codec).hardware[run.hardware] as HardwareEncoder;
      for (const { name } of renditions) await checkSegments(name, obstacle, { output, packager });
      // The pictures do not depend on the packaging.
      if (packager.hasInitialization) return;
      const similarities: number[] = [];
      await runTool(tools.ffmpeg, compareArguments(renditions, packager), {
        ...options,
        onLine: (line) => similarities.push(...similarityIn(line)),
      });
      checkPictures(similarities, renditions.length);
    } finally {
      await output.close();
    }
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

function similarityIn(line: string): number[] {
  const [, value] = /\bAll:(\d\.\d+|nan)/.exec(line) ?? [];
  return value === undefined ? [] : [Number(value)];
}

function checkPictures(similarities: readonly number[], renditions: number): void {
  const expected = renditions * (PROBE.frames - PROBE.keyFrame);
  if (similarities.length !== expected)
    throw new DeviceError(`Of ${expected} frames of the device, ${similarities.length} can be decoded.`);
  const lowest = Math.min(...similarities);
  if (!(lowest >= MIN_SIMILARITY))
    throw new DeviceError(
      `The device encodes other pictures than it gets (similarity ${lowest.toFixed(2)}).`,
    );
}

/** What a probe has made. */
type ProbedFiles = { output: ToolOutput; packager: Packager };

/** Throws a DeviceError if the two segments of a rendition are not what a job needs. */
async function checkSegments(
  name: VideoRendition,
  obstacle: HardwareEncoder['obstacle'],
  files: ProbedFiles,
): Promise<void> {
  const [first, second] = [await readSegment(name, 0, files), await readSegment(name, 1, files)];
  const flaw = segmentFlaw(first, second) ?? obstacle(first.codecs);
  if (flaw) throw new DeviceError(`The device made ${name} in a way that players cannot use: ${flaw}.`);
}

async function readSegment(
  name: VideoRendition,
  sequence: number,
  { output, packager }: ProbedFiles,
): Promise<SegmentInfo> {
  const initialization = packager.hasInitialization
    ? await contentOf(initializationFile(name), output)
    : null;
  const file = await output.file(segmentFile(name, sequence, packager), MAX_SEGMENT_BYTES);
  if (file === null)
    throw new DeviceError(
      `The device ignored a forced key frame in ${name}, so segments cannot begin there.`,
    );
  try {
    return await packager.open(readerOf(name), initialization).read(file, { isCopy: true });
  } catch (error) {
    if (!(error instanceof InvalidSegmentError)) throw error;
    throw new DeviceError(`Players could not begin at a forced key frame of the device in ${name}.`, {
      cause: error,
    });
  } finally {
    await file.handle.close();
  }
}

async function contentOf(name: string, output: ToolOutput): Promise<Buffer | null> {
  const file = await output.file(name, MAX_SEGMENT_BYTES);
  if (file === null) return null;
  try {
    return await buffer(readFrom(file));
  } finally {
    await file.handle.close();
  }
}
