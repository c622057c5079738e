import type { StoredRendition } from '@framelane/contracts/outputs/renditions';
import { I_FRAME_RENDITION, type RenditionName, type VideoRendition } from '@framelane/contracts/renditions';
import { isSoundAlone } from '@framelane/contracts/transcode-plan';
import { readerOf } from '../../../encoders/encoders.ts';
import type { SegmentReader } from '../../../packagers/packager.ts';
import { iFrameSource } from '../../../plan/encode-plan.ts';
import type { ToolOutput } from '../../../sandbox/tool-output.ts';
import { inParallel } from '../../in-parallel.ts';
import type { ClipJob } from '../../kinds.ts';
import type { RunContext } from '../../stored-run.ts';
import { fetchSegment, initializationOf } from '../../stored-tracks.ts';
import { together } from '../../together.ts';
import { initializationFact } from '../output-reader.ts';
import { storeAudio } from './clip-audio-run.ts';
import { packagerOfClip, rangeOf, readingOf, trackOf } from './clip-job.ts';
import { type Stored, storeSegment } from './clip-storage.ts';
import { extendedBy, type MadeEdge, makeEdges } from './edges.ts';

/**
 * Makes all renditions of a clip: makes the edges, takes over the other segments of its video with another key, and cuts its audio. Throws a
 * TranscodeFailure or an InvalidSegmentError.
 */
export async function makeClipRenditions(
  job: ClipJob,
  { directory, files }: { directory: string; files: ToolOutput },
  context: RunContext,
): Promise<StoredRendition[]> {
  if (isSoundAlone(job.plan.encode)) return storeAudio(job, directory, files, context);
  const progress = new Progress(job, context);
  const onStored = () => progress.add();
  // ffmpeg runs beside the transfers, which need little of the processor.
  const [edges, audio, middle] = await together(context.signal, [
    (signal) => makeEdges(job, directory, files, { ...context, signal }),
    (signal) => storeAudio(job, directory, files, { ...context, signal }),
    (signal) => storeMiddle(job, { ...context, signal, onStored }),
  ]);
  const video: StoredRendition[] = [];
  for (const { name } of job.plan.encode.videoRenditions) {
    const ofEdges = await storeEdges(job, name, edges.get(name) ?? [], { ...context, onStored });
    const heads = job.work.head ? 1 : 0;
    const segments = [...ofEdges.slice(0, heads), ...(middle.get(name) ?? []), ...ofEdges.slice(heads)];
    const reader = readerOfClip(job, name, edges);
    video.push({
      name,
      codecs: trackOf(job, name).codecs,
      ...initializationFact(reader),
      first: 0,
      segments,
    });
  }
  return [...video, ...audio, ...(await storeIFrames(job, edges, context))];
}

/** The reader of the segments of a rendition of the clip. */
function readerOfClip(
  job: ClipJob,
  name: VideoRendition,
  edges: ReadonlyMap<VideoRendition, readonly MadeEdge[]>,
): SegmentReader {
  const initialization = (edges.get(name) ?? []).reduce(
    (section, edge) => extendedBy(job, name, section, edge.initialization),
    initializationOf(trackOf(job, name)),
  );
  return packagerOfClip(job).open(readerOf(name), initialization);
}

/** The reader of the segments of the parent, which also reads those of the clip. */
function readerOfParent(job: ClipJob, name: VideoRendition): SegmentReader {
  return packagerOfClip(job).open(readerOf(name), initializationOf(trackOf(job, name)));
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

type Storing = Pick<RunContext, 'objects' | 'signal'> & { onStored: () => void };

/** Stores the segments of video that are those of the parent, between the edges. */
async function storeMiddle(job: ClipJob, context: Storing): Promise<Map<VideoRendition, Stored[]>> {
  const { plan, work } = job;
  const end = plan.segmentStarts.length - (work.tail ? 1 : 0);
  const sequences = [...plan.segmentStarts.keys()].slice(work.head ? 1 : 0, end);
  const stored = new Map<VideoRendition, Stored[]>();
  for (const { name } of plan.encode.videoRenditions) {
    const { first } = rangeOf(job, name);
    const reader = readerOfParent(job, name);
    const store = async (sequence: number, signal: AbortSignal) => {
      const storing = { ...context, signal };
      const segment = await fetchOf(job, name, first + sequence, storing);
      const result = await storeSegment(job, { name, sequence, segment }, reader, storing);
      context.onStored();
      return result;
    };
    stored.set(name, await inParallel(sequences, store, context.signal));
  }
  return stored;
}

/** Stores the edges of a video rendition. The counters of each go on in the segment after it, or continue those of the segment before it. */
async function storeEdges(
  job: ClipJob,
  name: VideoRendition,
  edges: readonly MadeEdge[],
  context: Storing,
): Promise<Stored[]> {
  const { plan } = job;
  const packager = packagerOfClip(job);
  const reader = readerOfParent(job, name);
  const { first } = rangeOf(job, name);
  const fetched = (sequence: number) => fetchOf(job, name, first + sequence, context);
  const stored: Stored[] = [];
  let previous: { sequence: number; segment: Buffer } | undefined;
  for (const { edge, segment: made } of edges) {
    const { sequence } = edge;
    const isBeforeEdge = edges.some((other) => other.edge.sequence === sequence + 1);
    let segment = made;
    if (sequence > 0) {
      const before = previous?.sequence === sequence - 1 ? previous.segment : await fetched(sequence - 1);
      segment = packager.joined(made, { after: before });
    } else if (!isBeforeEdge && plan.segmentStarts.length > 1) {
      segment = packager.joined(made, { before: await fetched(1) });
    }
    stored.push(await storeSegment(job, { name, sequence, segment }, reader, context));
    context.onStored();
    previous = { sequence, segment };
  }
  return stored;
}

/** Stores the I-frames: those of the first segment, those of the parent, and those of the last segment. */
async function storeIFrames(
  job: ClipJob,
  edges: ReadonlyMap<VideoRendition, readonly MadeEdge[]>,
  context: RunContext,
): Promise<StoredRendition[]> {
  const { plan } = job;
  const source = iFrameSource(plan.encode.videoRenditions);
  if (!plan.iFrames || source === null) return [];
  const ofEdges = edges.get(source) ?? [];
  const ofEdge = (isHead: boolean) =>
    ofEdges
      .filter(({ edge }) => (edge.sequence === 0) === isHead)
      .flatMap(({ iFrames }) =>
        iFrames.map(
          ({ segment }) =>
            async () =>
              segment,
        ),
      );
  const reader = readerOfClip(job, source, edges);
  const { first, end } = rangeOf(job, I_FRAME_RENDITION);
  const frames = [
    ...ofEdge(true),
    ...Array.from(
      { length: end - first },
      (_, at) => (signal: AbortSignal) => fetchOf(job, I_FRAME_RENDITION, first + at, { ...context, signal }),
    ),
    ...ofEdge(false),
  ];
  const segments: Stored[] = await inParallel(
    frames.map((read, sequence) => ({ read, sequence })),
    async ({ read, sequence }, signal) => {
      const segment = await read(signal);
      return storeSegment(job, { name: I_FRAME_RENDITION, sequence, segment }, reader, {
        ...context,
        signal,
      });
    },
    context.signal,
  );
  if (segments.length === 0) return [];
  return [
    {
      name: I_FRAME_RENDITION,
      codecs: trackOf(job, source).codecs,
      ...initializationFact(reader),
      first: 0,
      segments,
    },
  ];
}

function fetchOf(
  job: ClipJob,
  name: RenditionName,
  sequence: number,
  context: Pick<RunContext, 'objects' | 'signal'>,
): Promise<Buffer> {
  return fetchSegment(trackOf(job, name), sequence, readingOf(job, context));
}
