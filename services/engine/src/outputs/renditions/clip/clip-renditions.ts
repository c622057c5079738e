import type { StoredRendition } from '@framelane/contracts/outputs/renditions';
import { I_FRAME_RENDITION, type RenditionName, type VideoRendition } from '@framelane/contracts/renditions';
import { isSoundAlone } from '@framelane/contracts/transcode-plan';
import { PACKAGER } from '../../../packagers/packagers.ts';
import { iFrameSource } from '../../../plan/encode-plan.ts';
import type { ToolOutput } from '../../../sandbox/tool-output.ts';
import type { ClipJob } from '../../kinds.ts';
import type { RunContext } from '../../stored-run.ts';
import { fetchSegment } from '../../stored-tracks.ts';
import { storeAudio } from './clip-audio-run.ts';
import { rangeOf, trackOf } from './clip-job.ts';
import { inParallel, type Stored, storeSegment } from './clip-storage.ts';
import { type EncodedEdge, encodeEdges } from './edges.ts';

/**
 * Makes all renditions of a clip: encodes the edges, takes over the other segments of its video with another key, and cuts its audio. Throws a
 * TranscodeFailure or an InvalidSegmentError.
 */
export async function makeClipRenditions(
  job: ClipJob,
  { directory, files }: { directory: string; files: ToolOutput },
  context: RunContext,
): Promise<StoredRendition[]> {
  const audio = await storeAudio(job, directory, files, context);
  if (isSoundAlone(job.plan.encode)) return audio;
  const edges = await encodeEdges(job, directory, files, context);
  const progress = new Progress(job, context);
  const onStored = () => progress.add();
  const video: StoredRendition[] = [];
  for (const { name } of job.plan.encode.videoRenditions)
    video.push(await storeVideo(job, name, edges.get(name) ?? [], { ...context, onStored }));
  return [...video, ...audio, ...(await storeIFrames(job, edges, context))];
}

/** Counts the stored segments of video. They are the larger part of the work. */
class Progress {
  #stored = 0;
  readonly #all: number;
  readonly #onProgress: RunContext['onProgress'];

  constructor({ plan: { encode, segmentStarts } }: ClipJob, { onProgress }: Pick<RunContext, 'onProgress'>) {
    this.#all = encode.videoRenditions.length * segmentStarts.length;
    this.#onProgress = onProgress;
  }

  add(): void {
    this.#stored += 1;
    this.#onProgress(this.#stored / this.#all);
  }
}

/** Stores the segments of a video rendition. */
async function storeVideo(
  job: ClipJob,
  name: VideoRendition,
  edges: readonly EncodedEdge[],
  context: Pick<RunContext, 'objects' | 'signal'> & { onStored: () => void },
): Promise<StoredRendition> {
  const { output, plan } = job;
  const track = trackOf(job, name);
  const { first } = rangeOf(job, name);
  const encoded = joinEdges(edges);
  const plaintext = async (sequence: number): Promise<Buffer> => encoded.get(sequence) ?? fetched(sequence);
  const fetched = (sequence: number) => fetchOf(job, name, first + sequence, context);
  for (const [sequence, segment] of encoded) {
    if (encoded.has(sequence + 1) || encoded.has(sequence - 1)) continue;
    const isHead = sequence === 0;
    const hasNeighbour = plan.segmentStarts.length > 1;
    const neighbour = hasNeighbour ? await fetched(isHead ? 1 : sequence - 1) : undefined;
    if (neighbour === undefined) continue;
    encoded.set(sequence, PACKAGER.joined(segment, isHead ? { before: neighbour } : { after: neighbour }));
  }
  const segments = await inParallel(
    [...plan.segmentStarts.keys()],
    async (sequence) => {
      const segment = await plaintext(sequence);
      const stored = await storeSegment(output, { name, sequence, segment }, context);
      context.onStored();
      return stored;
    },
    context.signal,
  );
  return { name, codecs: track.codecs, first: 0, segments };
}

/** The edges by their numbers. If one follows the other, its counters do, too. */
function joinEdges([head, tail]: readonly EncodedEdge[]): Map<number, Buffer> {
  const encoded = new Map<number, Buffer>();
  if (head !== undefined) encoded.set(head.edge.sequence, head.segment);
  if (head === undefined || tail === undefined) return encoded;
  const { sequence } = tail.edge;
  const isNext = sequence === head.edge.sequence + 1;
  const segment = isNext ? PACKAGER.joined(tail.segment, { after: head.segment }) : tail.segment;
  return encoded.set(sequence, segment);
}

/** Stores the I-frames: those of the first segment, those of the parent, and those of the last segment. */
async function storeIFrames(
  job: ClipJob,
  edges: ReadonlyMap<VideoRendition, readonly EncodedEdge[]>,
  context: RunContext,
): Promise<StoredRendition[]> {
  const { plan, output } = job;
  const source = iFrameSource(plan.encode.videoRenditions);
  if (!plan.iFrames || source === null) return [];
  const ofEdges = edges.get(source) ?? [];
  const encoded = (isHead: boolean) =>
    ofEdges.filter(({ edge }) => (edge.sequence === 0) === isHead).flatMap(({ iFrames }) => iFrames);
  const { first, end } = rangeOf(job, I_FRAME_RENDITION);
  const frames = [
    ...encoded(true).map(
      ({ segment }) =>
        () =>
          Promise.resolve(segment),
    ),
    ...Array.from(
      { length: end - first },
      (_, at) => () => fetchOf(job, I_FRAME_RENDITION, first + at, context),
    ),
    ...encoded(false).map(
      ({ segment }) =>
        () =>
          Promise.resolve(segment),
    ),
  ];
  const segments: Stored[] = await inParallel(
    frames.map((read, sequence) => ({ read, sequence })),
    async ({ read, sequence }) =>
      storeSegment(output, { name: I_FRAME_RENDITION, sequence, segment: await read() }, context),
    context.signal,
  );
  if (segments.length === 0) return [];
  return [{ name: I_FRAME_RENDITION, codecs: trackOf(job, source).codecs, first: 0, segments }];
}

function fetchOf(
  job: ClipJob,
  name: RenditionName,
  sequence: number,
  { objects, signal }: Pick<RunContext, 'objects' | 'signal'>,
): Promise<Buffer> {
  const { contentKey } = job.parent;
  return fetchSegment(trackOf(job, name), sequence, { objects, contentKey, signal });
}
