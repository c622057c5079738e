import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { VideoRendition } from '@framelane/contracts/renditions';
import type { VideoRenditionPlan } from '@framelane/contracts/transcode-plan';
import { PLAIN_ENCODER, readerOf } from '../../../encoders/encoders.ts';
import { type IFrame, InvalidSegmentError } from '../../../packagers/packager.ts';
import { copiedRenditions, iFrameSource } from '../../../plan/encode-plan.ts';
import { MIN_I_FRAME_SECONDS } from '../../../plan/key-frames.ts';
import { grantFile, SOURCE_FOLDER } from '../../../sandbox/job-folder.ts';
import { readFrom, type ToolOutput } from '../../../sandbox/tool-output.ts';
import { toNumber } from '../../../source/frame-rate.ts';
import { incompleteOutput } from '../../../transcode-failure.ts';
import type { ClipJob } from '../../kinds.ts';
import { runOnStored } from '../../run-on-stored.ts';
import { maxSegmentBytes, type RunContext } from '../../stored-run.ts';
import { fetchSegment, initializationOf } from '../../stored-tracks.ts';
import { together } from '../../together.ts';
import { openOutput, readInitializationFile } from '../output-reader.ts';
import { assertNotEmpty } from '../segment-info.ts';
import { type Edge, edgesOf, packagerOfClip, readingOf, timestampOf, trackOf } from './clip-job.ts';
import { type Cut, cutArguments, cutInitialization, cutInput, cutOutput } from './edge-arguments.ts';
import { type EdgePart, edgeParts } from './edge-parts.ts';

/** An edge of a rendition: its segment, the initialization section of the rendition with it, and its I-frames if they are stored. */
export type MadeEdge = {
  edge: Edge;
  segment: Buffer;
  initialization: Buffer | null;
  iFrames: readonly IFrame[];
};

/** Encoders decode so few frames when they are shown, and not earlier, as the frames around them. So these are encoded as those of a copy. */
const UNDELAYED_FRAMES = 2;

/** A rendition that begins or ends at another time by more than this is not the frames that were asked for. */
const TOLERANCE_SECONDS = 0.001;

/** Makes the edges of a clip, both at the same time. Resolves with those of each video rendition. */
export async function makeEdges(
  job: ClipJob,
  directory: string,
  files: ToolOutput,
  context: RunContext,
): Promise<Map<VideoRendition, MadeEdge[]>> {
  const all = await together<Map<VideoRendition, MadeEdge>[]>(
    context.signal,
    edgesOf(job).map(
      (edge) => (signal: AbortSignal) => makeEdge(job, edge, { directory, files }, { ...context, signal }),
    ),
  );
  const ofName = (name: VideoRendition) => all.flatMap((made) => made.get(name) ?? []);
  return new Map(job.plan.encode.videoRenditions.map(({ name }) => [name, ofName(name)]));
}

/** A part, and how it is encoded again; null if it is taken over. */
type PlannedPart = { part: EdgePart; cut: Cut | null };

async function makeEdge(
  job: ClipJob,
  edge: Edge,
  { directory, files }: { directory: string; files: ToolOutput },
  context: RunContext,
): Promise<Map<VideoRendition, MadeEdge>> {
  const planned = new Map<VideoRendition, PlannedPart[]>();
  for (const rendition of job.plan.encode.videoRenditions)
    planned.set(rendition.name, await planParts(job, edge, rendition, context));
  await encode(job, edge, [...planned.values()].flat(), { directory, context });
  const made = new Map<VideoRendition, MadeEdge>();
  for (const [name, parts] of planned) made.set(name, await joinParts(job, edge, { name, parts, files }));
  return made;
}

async function planParts(
  job: ClipJob,
  edge: Edge,
  rendition: VideoRenditionPlan,
  context: RunContext,
): Promise<PlannedPart[]> {
  const { plan } = job;
  const track = trackOf(job, rendition.name);
  const initialization = initializationOf(track);
  const reader = packagerOfClip(job).open(readerOf(rendition.name), initialization);
  const fetched = (sequence: number) => fetchSegment(track, sequence, readingOf(job, context));
  const groups = reader.groups(await fetched(edge.parentSequence));
  const parts = edgeParts(job, edge, rendition, groups);
  const isCopied = copiedRenditions(plan.encode).has(rendition.name);
  const hasNext = edge.sequence + 1 < plan.segmentStarts.length;
  const planned: PlannedPart[] = [];
  for (const [at, part] of parts.entries()) {
    // What comes before a group continues with it. The end of a group continues its beginning.
    const isEnd = !part.isWhole && at === parts.length - 1 && !hasNext;
    const continued = async () =>
      isEnd ? part.group : (parts[at + 1]?.group ?? (await fetched(edge.parentSequence + 1)));
    const isUndelayed = Math.ceil(part.frames / rendition.frameStep) <= UNDELAYED_FRAMES;
    const isOfDevice = plan.encoder.hardware !== undefined;
    const continuation =
      !part.isWhole && (isCopied || isOfDevice || isUndelayed)
        ? { codecs: track.codecs, delaySeconds: reader.delay(await continued()) }
        : null;
    const { firstFrame, frames } = part;
    const cut = { rendition, firstFrame, frames, continuation, initialization };
    planned.push({ part, cut: part.isWhole ? null : cut });
  }
  return planned;
}

/** Encodes the parts of an edge that are not taken over, in all renditions. */
async function encode(
  job: ClipJob,
  edge: Edge,
  parts: readonly PlannedPart[],
  { directory, context }: { directory: string; context: RunContext },
): Promise<void> {
  const cuts: Cut[] = [];
  for (const { part, cut } of parts) {
    if (cut === null) continue;
    const path = join(directory, SOURCE_FOLDER, cutInput(cut));
    await writeFile(path, Buffer.concat([cut.initialization ?? Buffer.alloc(0), part.group]));
    await grantFile(path, context.tools.account);
    cuts.push(cut);
  }
  if (cuts.length === 0) return;
  const commandLine = cutArguments(job, cuts, context.settings.threads);
  const seconds = edge.frames / toNumber(job.plan.encode.frameRate);
  await runOnStored(commandLine, { program: context.tools.ffmpeg, seconds }, directory, context);
}

/** The segment that the parts of an edge make. */
async function joinParts(
  job: ClipJob,
  edge: Edge,
  { name, parts, files }: { name: VideoRendition; parts: readonly PlannedPart[]; files: ToolOutput },
): Promise<MadeEdge> {
  const packager = packagerOfClip(job);
  let segment = Buffer.alloc(0);
  let initialization = initializationOf(trackOf(job, name));
  for (const { part, cut } of parts) {
    const made = cut && (await readCut(job, cut, files));
    if (made) initialization = extendedBy(job, name, initialization, made.initialization);
    const next = made?.segment ?? part.group;
    segment = Buffer.concat([segment, packager.joined(next, { after: segment })]);
  }
  const { encode, iFrames } = job.plan;
  const isSource = iFrames && name === iFrameSource(encode.videoRenditions);
  const reader = packager.open(readerOf(name), initialization);
  return {
    edge,
    segment,
    initialization,
    iFrames: isSource ? await reader.iFrames(Readable.from([segment]), MIN_I_FRAME_SECONDS) : [],
  };
}

const ENCODED = { isCopy: false };

/** Reads an encoded cut. Throws an InvalidSegmentError if it does not have the frames that it should have. */
async function readCut(
  job: ClipJob,
  cut: Cut,
  files: ToolOutput,
): Promise<Pick<MadeEdge, 'segment' | 'initialization'>> {
  const { rendition, firstFrame, frames } = cut;
  const { name, frameStep } = rendition;
  const packager = packagerOfClip(job);
  const fileName = cutOutput(cut, packager);
  const file = await files.file(fileName, maxSegmentBytes(job.plan.encode));
  if (file === null) throw incompleteOutput(`${fileName} is missing`);
  try {
    assertNotEmpty(file, { rendition: name, sequence: firstFrame });
    const section = await readInitializationFile(files, cutInitialization(cut), packager);
    const { start, units } = await openOutput(name, packager, section, ENCODED).read(file, ENCODED);
    const isPlanned = Math.abs(start - timestampOf(job, firstFrame)) <= TOLERANCE_SECONDS;
    if (!isPlanned || units !== Math.ceil(frames / frameStep))
      throw new InvalidSegmentError(`${fileName} has ${units} frames from ${start} s`);
    const segment = packager.adopted(await buffer(readFrom(file)), PLAIN_ENCODER, trackOf(job, name).codecs);
    return { segment, initialization: section };
  } finally {
    await file.handle.close();
  }
}

/** The initialization section of a rendition of the clip with one more edge or cut; null if the packaging has none. */
export function extendedBy(
  job: ClipJob,
  name: VideoRendition,
  initialization: Buffer | null,
  other: Buffer | null,
): Buffer | null {
  return packagerOfClip(job).extended(initialization, other, PLAIN_ENCODER, trackOf(job, name).codecs);
}
