import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { VideoRendition } from '@framelane/contracts/renditions';
import { encoderOf } from '../../../encoders/encoders.ts';
import { type IFrame, InvalidSegmentError } from '../../../packagers/packager.ts';
import { PACKAGER } from '../../../packagers/packagers.ts';
import { segmentFile } from '../../../packagers/segment-files.ts';
import { iFrameSource } from '../../../plan/encode-plan.ts';
import { MIN_I_FRAME_SECONDS } from '../../../plan/key-frames.ts';
import { grantFile, SOURCE_FOLDER } from '../../../sandbox/job-folder.ts';
import { readFrom, type ToolOutput } from '../../../sandbox/tool-output.ts';
import { toNumber } from '../../../source/frame-rate.ts';
import { incompleteOutput } from '../../../transcode-failure.ts';
import type { ClipJob } from '../../kinds.ts';
import { runOnStored } from '../../run-on-stored.ts';
import { maxSegmentBytes, type RunContext } from '../../stored-run.ts';
import { fetchSegment } from '../../stored-tracks.ts';
import { readSegmentInfo } from '../segment-info.ts';
import { type Edge, edgesOf, timestampOf, trackOf } from './clip-job.ts';
import { type Continuations, edgeArguments, edgeInput } from './edge-arguments.ts';

/** An edge of a rendition: its segment, and its I-frames if they are stored. */
export type EncodedEdge = { edge: Edge; segment: Buffer; iFrames: readonly IFrame[] };

/** A rendition that begins or ends at another time by more than this is not the frames that were asked for. */
const TOLERANCE_SECONDS = 0.001;

/** Encodes the edges of a clip, both at the same time. Resolves with those of each video rendition. */
export async function encodeEdges(
  job: ClipJob,
  directory: string,
  files: ToolOutput,
  context: RunContext,
): Promise<Map<VideoRendition, EncodedEdge[]>> {
  const edges = edgesOf(job);
  await Promise.all(edges.map((edge) => encode(job, edge, directory, context)));
  const encoded = new Map<VideoRendition, EncodedEdge[]>();
  for (const { name } of job.plan.encode.videoRenditions) {
    const ofName: EncodedEdge[] = [];
    for (const edge of edges) ofName.push(await read(job, name, edge, files));
    encoded.set(name, ofName);
  }
  return encoded;
}

async function encode(job: ClipJob, edge: Edge, directory: string, context: RunContext): Promise<void> {
  const { parent, plan } = job;
  const { objects, tools, settings, signal } = context;
  const { contentKey } = parent;
  const fetched = (track: ReturnType<typeof trackOf>, sequence: number) =>
    fetchSegment(track, sequence, { objects, contentKey, signal });
  const continuations: Continuations = new Map();
  for (const { name } of plan.encode.videoRenditions) {
    const track = trackOf(job, name);
    const segment = await fetched(track, edge.parentSequence);
    // The head continues with the segment after it, the tail continues the one before it, whose delay is that of the segment it is made from.
    const isHead = edge.sequence === 0 && plan.segmentStarts.length > 1;
    const continued = isHead ? await fetched(track, edge.parentSequence + 1) : segment;
    continuations.set(name, { codecs: track.codecs, delaySeconds: PACKAGER.delayOf(continued) });
    const path = join(directory, SOURCE_FOLDER, edgeInput(edge, name));
    await writeFile(path, segment);
    await grantFile(path, tools.account);
  }
  const commandLine = edgeArguments(job, edge, { threads: settings.threads, continuations });
  const seconds = edge.frames / toNumber(plan.encode.frameRate);
  await runOnStored(commandLine, { program: tools.ffmpeg, seconds }, directory, context);
}

/** Reads an encoded edge. Throws an InvalidSegmentError if it does not have the frames that it should have. */
async function read(job: ClipJob, name: VideoRendition, edge: Edge, files: ToolOutput): Promise<EncodedEdge> {
  const { encode, iFrames } = job.plan;
  const { sequence, firstFrame, frames } = edge;
  const fileName = segmentFile(name, sequence);
  const file = await files.file(fileName, maxSegmentBytes(encode));
  if (file === null) throw incompleteOutput(`${fileName} is missing`);
  try {
    const { start, units } = await readSegmentInfo(file, { rendition: name, sequence, isCopy: false });
    const step = encode.videoRenditions.find((each) => each.name === name)?.frameStep ?? 1;
    const isPlanned = Math.abs(start - timestampOf(job, firstFrame)) <= TOLERANCE_SECONDS;
    if (!isPlanned || units !== Math.ceil(frames / step))
      throw new InvalidSegmentError(`Segment ${sequence} of ${name} has ${units} frames from ${start} s`);
    const { continuation, reader } = encoderOf(name);
    const { declare } = continuation(trackOf(job, name).codecs, 0);
    const isSource = iFrames && name === iFrameSource(encode.videoRenditions);
    return {
      edge,
      segment: PACKAGER.editUnits(await buffer(readFrom(file)), declare),
      iFrames: isSource ? await PACKAGER.readIFrames(file, reader, MIN_I_FRAME_SECONDS) : [],
    };
  } finally {
    await file.handle.close();
  }
}
