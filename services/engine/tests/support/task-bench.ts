import { createReadStream, mkdtempSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { planClip, windowOf } from '@framelane/contracts/clip-plan';
import type { ClipWork } from '@framelane/contracts/clip-work';
import { newContentKey } from '@framelane/contracts/content-key';
import type { HdrChoice } from '@framelane/contracts/hdr';
import { newId } from '@framelane/contracts/ids';
import type { StoredTrack } from '@framelane/contracts/internal-api';
import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import type { PieceTask } from '@framelane/contracts/outputs/piece-task';
import { type Derivation, PLANNING_TASK, type Task, taskNumber } from '@framelane/contracts/outputs/tasks';
import { PACKAGINGS, segmentName } from '@framelane/contracts/packaging';
import type { AlternativeCodec, RenditionName } from '@framelane/contracts/renditions';
import { type TaskPlan, type TranscodePlan, transcodePlanSchema } from '@framelane/contracts/transcode-plan';
import type { Trim } from '@framelane/contracts/trim';
import type { ClaimedWatermark } from '@framelane/contracts/watermark';
import { FileObjectStore } from '@framelane/object-store/file-object-store';
import { hlsPrefix, outputPrefix, sourceKey, taskFolder } from '@framelane/object-store/object-keys';
import { createLogger, type Logger } from '@framelane/service-kit/logger';
import { type MediaTools, prepareMediaTools } from '../../src/ffmpeg/media-tools.ts';
import { runClip } from '../../src/outputs/clip-run.ts';
import type { ClipJob, DerivationJob } from '../../src/outputs/kinds.ts';
import { runDerivation, runTask } from '../../src/outputs/run-task.ts';
import { planEncoding } from '../../src/plan/encode-plan.ts';
import type { ExplainedPlan } from '../../src/plan/explained-plan.ts';
import { DEFAULT_MAX_RATES } from '../../src/plan/ladder.ts';
import { createRecognizer } from '../../src/recognizers/recognizers.ts';
import { grantFolder, OUTPUT_FOLDER } from '../../src/sandbox/job-folder.ts';
import type { ProbedSource } from '../../src/source/probe.ts';
import { withJobDirectory } from '../../src/transcode/job-directory.ts';
import { probeSource, type TranscodeJobContext, withSource } from '../../src/transcode/job-source.ts';
import { planVideo } from '../../src/transcode/plan-job.ts';
import { planSource } from '../../src/transcode/plan-source.ts';
import { planWatermark } from '../../src/transcode/plan-watermark.ts';
import { SourceCache } from '../../src/transcode/source-cache.ts';
import { readTextTracks } from '../../src/transcode/text-tracks.ts';
import { DEFAULT_TRANSCODE_LIMITS, type TranscodeSettings } from '../../src/transcode-settings.ts';
import type { PieceInput } from './encoder-frames.ts';
import { type MadeVideo, madeVideo } from './made-video.ts';
import { TEST_PACKAGING } from './packaging.ts';
import type { StoredVideos } from './worker-bench.ts';

const WORKSPACE = newId('ws');

/** The number of a task that is added to a ready video. */
const DERIVATION = 99;

/** A source that a bench has stored. */
export type TaskVideo = { videoId: string; sourceBytes: number };

/** The plan of a video that is cut. */
export type CutPlan = TranscodePlan & TaskPlan;

/** A transcoded video, as a clip needs it. Without a key, its key is that of the bench. */
export type BenchVideo = {
  video: TaskVideo;
  plan: CutPlan;
  manifest: MadeVideo;
  contentKey?: Buffer;
  posterKey?: string;
};

/** A clip, and what the checks of a stored video need. */
export type BenchClip = Required<BenchVideo> & { result: TaskResult; work: ClipWork; stored: StoredVideos };

/** Plans videos and runs their tasks as engines do. Each run fetches the source again, into a directory of its own. */
export class TaskBench implements StoredVideos {
  readonly directory: string;
  readonly objects: FileObjectStore;
  readonly contentKey = newContentKey();
  readonly copiesVideo = new Set<string>();
  readonly stillVideos = new Set<string>();
  /** How the segments of all videos are packed. */
  packaging = TEST_PACKAGING;
  /** The codecs that all videos have beside H.264. */
  codecs: readonly AlternativeCodec[] = [];
  /** What becomes of high dynamic range in these codecs. */
  hdr: HdrChoice = 'sdr';
  /** The watermark of all videos. */
  watermark: ClaimedWatermark | undefined;
  /** The part of their sources that all videos have. */
  trim: Trim | undefined;
  readonly #settings: TranscodeSettings;
  readonly #logger = createLogger({ service: 'test' });
  readonly #tools: MediaTools;
  /** Object keys by video, rendition and number. */
  readonly #keys = new Map<string, string>();
  /** Initialization sections by video and rendition. */
  readonly #initializations = new Map<string, string>();

  private constructor(directory: string, settings: TranscodeSettings, tools: MediaTools) {
    this.directory = directory;
    this.objects = new FileObjectStore(join(directory, 'objects'));
    this.#settings = settings;
    this.#tools = tools;
    this.#logger.silent = process.env.SHOW_LOGS === undefined;
  }

  static async start(changes: Partial<TranscodeSettings> = {}): Promise<TaskBench> {
    const directory = await mkdtemp(join(tmpdir(), 'tasks-'));
    const workDir = join(directory, 'work');
    await mkdir(workDir);
    const settings: TranscodeSettings = {
      slots: 1,
      workDir,
      sandbox: 'auto',
      preset: 'veryfast',
      maxRates: DEFAULT_MAX_RATES,
      surround: false,
      tenBit: false,
      iFrames: true,
      threads: 2,
      limits: { ...DEFAULT_TRANSCODE_LIMITS, reservedDiskBytes: 0 },
      ...changes,
    };
    const logger = createLogger({ service: 'test' });
    logger.silent = true;
    return new TaskBench(directory, settings, await prepareMediaTools(settings, logger));
  }

  async stop(): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }

  /** The facts of all warnings of an event from now on. */
  warningsOf(event: string): object[] {
    const found: object[] = [];
    const warn = this.#logger.warn.bind(this.#logger);
    this.#logger.warn = ((name: string, facts: object) => {
      if (name === event) found.push(facts);
      return warn(name, facts);
    }) as unknown as Logger['warn'];
    return found;
  }

  /** Stores a file as the source of a new video. */
  async store(path: string): Promise<TaskVideo> {
    const videoId = newId('vid');
    const body = createReadStream(path);
    const { bytes } = await this.objects.putStream(sourceOf(videoId), body, { contentType: 'video/mp4' });
    return { videoId, sourceBytes: bytes };
  }

  /** Probes and plans a video. The plan, as an engine receives it, has tasks if the video is long and can be cut. */
  async plan(
    video: TaskVideo,
    pieceSeconds: number,
    allowCopy = true,
  ): Promise<{ source: ProbedSource; plan: TranscodePlan; obstacles: ExplainedPlan['obstacles'] }> {
    const context = this.#context();
    return this.withSource(video, async (directory) => {
      const { source, texts } = await readTextTracks(
        await probeSource(directory, { audioOnly: 'accepted', isTrimmed: this.trim !== undefined }, context),
        directory,
        context,
      );
      const watermark = this.watermark && (await planWatermark(this.watermark, directory, context));
      const { packaging, codecs, hdr, trim } = this;
      const settings = { ...this.#settings, packaging, codecs, hdr, watermark, trim };
      const planned = allowCopy
        ? await planSource(source, settings, directory, context)
        : { source, plan: planEncoding(source, { allowCopy, ...settings }) };
      const captions = { directory, logger: this.#logger };
      const plan = await planVideo(planned, texts, settings, { pieceSeconds, revision: 0 }, captions);
      const { obstacles } = planned.plan;
      return { source, plan: transcodePlanSchema.parse(JSON.parse(JSON.stringify(plan))), obstacles };
    });
  }

  /** The plan of a video that is cut. */
  async taskPlan(...args: Parameters<TaskBench['plan']>): Promise<CutPlan> {
    const { plan } = await this.plan(...args);
    if (plan.tasks.length === 0) throw new Error('The video is transcoded as a whole');
    return plan;
  }

  /** Runs work in a directory with the source of a video, or with parts of it alone. */
  async withSource<T>(
    video: TaskVideo,
    work: (directory: string) => Promise<T>,
    parts?: PieceTask['bytes'],
  ): Promise<T> {
    const isShared = parts !== undefined;
    const watermarkImage = this.watermark && Buffer.from(this.watermark.image, 'base64');
    const job = {
      ...video,
      sourceKey: sourceOf(video.videoId),
      watermarkImage,
      hashSource: false,
      isShared,
      parts,
    };
    return withSource(job, this.#context(), work);
  }

  /**
   * Runs work with the directories of pieces: each has what its run needs of the source.
   *
   * @param directory has the source of the video
   */
  async withPieceInputs<T>(
    video: TaskVideo,
    directory: string,
    [piece, ...others]: readonly PieceTask[],
    work: (inputs: PieceInput[]) => Promise<T>,
  ): Promise<T> {
    if (piece === undefined) return work([]);
    const withOthers = (ownDirectory: string) =>
      this.withPieceInputs(video, directory, others, (inputs) =>
        work([{ directory: ownDirectory, piece }, ...inputs]),
      );
    return piece.bytes === undefined
      ? withOthers(directory)
      : this.withSource(video, withOthers, piece.bytes);
  }

  /**
   * Runs a task of a video as a try of the first attempt, by default as the first try.
   *
   * @param position of the task in the plan
   */
  async runTask({
    video,
    plan,
    position,
    tryNumber = 1,
  }: {
    video: TaskVideo;
    plan: CutPlan;
    position: number;
    tryNumber?: number;
  }): Promise<TaskResult> {
    const { videoId } = video;
    const work = [...plan.tasks, ...plan.optionalTasks][position] as Task;
    const facts = { videoId, attempt: 1, task: taskNumber(position), try: tryNumber };
    const folder = taskFolder(facts.task, tryNumber);
    const prefix = outputPrefix({ workspaceId: WORKSPACE, ...facts, folder });
    const output = { facts, contentKey: this.contentKey, prefix };
    const parts = 'bytes' in work ? work.bytes : undefined;
    const result = await this.withSource(
      video,
      (directory) => runTask({ plan, work, output }, directory, this.#context()),
      parts,
    );
    await this.#remember(videoId, prefix, result);
    return result;
  }

  /** Plans a video and runs all its tasks, the last one first: no task depends on another. */
  async transcode(
    path: string,
    pieceSeconds: number,
    allowCopy = true,
  ): Promise<{ video: TaskVideo; plan: CutPlan; manifest: MadeVideo }> {
    const video = await this.store(path);
    const plan = await this.taskPlan(video, pieceSeconds, allowCopy);
    if (plan.encode.copiesVideo) this.copiesVideo.add(video.videoId);
    if (plan.encode.keyFrames) this.stillVideos.add(video.videoId);
    const results: TaskResult[] = [];
    for (const position of [...plan.tasks, ...plan.optionalTasks].map((_, at) => at).toReversed())
      results.push(await this.runTask({ video, plan, position }));
    return { video, plan, manifest: madeVideo(plan, results) };
  }

  /** The stored renditions of a transcoded video, without languages. */
  async tracks<N extends RenditionName>(
    videoId: string,
    names: readonly N[],
  ): Promise<(Omit<StoredTrack, 'name'> & { name: N })[]> {
    const tracks: (Omit<StoredTrack, 'name'> & { name: N })[] = [];
    for (const name of names) {
      const segmentBytes: number[] = [];
      const places: StoredTrack['places'] = [];
      for (let sequence = 0; ; sequence += 1) {
        const file = `${name}/${segmentName(sequence, this.packaging)}`;
        const key = this.#keys.get(`${videoId}/${file}`);
        if (key === undefined) break;
        const prefix = key.slice(0, -file.length);
        if (places.at(-1)?.prefix !== prefix) places.push({ firstSegment: sequence, prefix });
        segmentBytes.push((await this.objects.head(key))?.bytes ?? 0);
      }
      const initialization = this.#initializations.get(`${videoId}/${name}`);
      tracks.push({
        name,
        language: null,
        label: null,
        ...(initialization !== undefined && { initialization }),
        firstSegment: 0,
        segmentBytes,
        places,
      });
    }
    return tracks;
  }

  /** Runs a derivation of a transcoded video. Resolves with its result, and with the prefix of what it has stored. */
  async derive(
    { videoId }: TaskVideo,
    job: Pick<DerivationJob<Derivation>, 'work' | 'tracks' | 'duration'>,
    changes: Partial<Pick<TranscodeJobContext, 'signal' | 'onProgress' | 'recognizer'>> = {},
  ): Promise<{ result: TaskResult; prefix: string }> {
    const facts = { videoId, attempt: 1, task: DERIVATION, try: 1 };
    const prefix = outputPrefix({ workspaceId: WORKSPACE, ...facts, folder: taskFolder(DERIVATION, 1) });
    const output = { facts, contentKey: this.contentKey, prefix };
    const context = { ...this.#context(), ...changes };
    const { packaging } = this;
    const { startTimestamp } = PACKAGINGS[packaging];
    const result = await withJobDirectory(videoId, context, (directory) =>
      runDerivation({ ...job, packaging, startTimestamp, output }, directory, context),
    );
    return { result, prefix };
  }

  /** Makes a clip of a transcoded video, or of a clip, with a key of its own. */
  async clip(parent: BenchVideo, times: { start: number; end: number }): Promise<BenchClip> {
    const stored = [
      ...parent.manifest.renditions,
      ...(parent.manifest.iFrames ? [parent.manifest.iFrames] : []),
    ];
    const window = windowOf(parent.plan, times);
    const durations = stored.map(({ name, segments }) => ({
      name,
      segmentDurations: segments.map(({ duration }) => duration),
    }));
    const { plan, work } = planClip(parent.plan, durations, window);
    const tracks = await this.tracks(
      parent.video.videoId,
      stored.map(({ name }) => name),
    );
    const { videoId, contentKey, prefix, result } = await this.makeClip({
      plan,
      work,
      parent: {
        contentKey: parent.contentKey ?? this.contentKey,
        tracks: tracks.map((track, at) => ({ ...track, codecs: stored[at]?.codecs ?? '' })),
        startTimestamp: parent.manifest.startTimestamp,
        posterKey: parent.posterKey ?? null,
      },
    });
    const facts2 = { ...parent.plan.facts, captions: [], chapters: [] };
    const copiesVideo = new Set(plan.encode.copiesVideo ? [videoId] : []);
    const stillVideos = new Set(parent.plan.encode.keyFrames ? [videoId] : []);
    return {
      video: { videoId, sourceBytes: 0 },
      contentKey,
      plan: { ...parent.plan, ...plan, facts: facts2 },
      manifest: madeVideo({ ...plan, facts: facts2 }, [result]),
      posterKey: `${prefix}poster.jpg`,
      result,
      work,
      stored: {
        directory: this.directory,
        objects: this.objects,
        contentKey,
        copiesVideo,
        stillVideos,
        packaging: this.packaging,
        segmentKey: (...address) => this.segmentKey(...address),
        stored: (of) => this.stored(of),
      },
    };
  }

  /** Makes a clip as an engine does, with a new id and a new key. */
  async makeClip(job: Omit<ClipJob, 'output'>) {
    const videoId = newId('vid');
    const contentKey = newContentKey();
    const facts = { videoId, attempt: 1, task: PLANNING_TASK, try: 1 };
    const prefix = outputPrefix({ workspaceId: WORKSPACE, ...facts, folder: taskFolder(PLANNING_TASK, 1) });
    const context = this.#context();
    const result = await withJobDirectory(videoId, context, (directory) =>
      runClip({ ...job, output: { facts, contentKey, prefix } }, directory, context),
    );
    await this.#remember(videoId, prefix, result);
    return { videoId, contentKey, prefix, result };
  }

  async #remember(videoId: string, prefix: string, { renditions = [] }: TaskResult): Promise<void> {
    for (const { name, initialization } of renditions)
      if (initialization !== undefined) this.#initializations.set(`${videoId}/${name}`, initialization);
    for await (const { key } of this.objects.list(prefix)) {
      const [rendition, file] = key.split('/').slice(-2);
      this.#keys.set(`${videoId}/${rendition}/${file}`, key);
    }
  }

  /** Runs work in the directory of a job with a folder for its output. */
  async inJob<T>(
    work: (directory: string, context: TranscodeJobContext) => Promise<T> | undefined,
  ): Promise<T | undefined> {
    const context = this.#context();
    return withJobDirectory('a job', context, async (directory) => {
      await mkdir(join(directory, OUTPUT_FOLDER));
      await grantFolder(join(directory, OUTPUT_FOLDER), 'write', context.tools.account);
      return await work(directory, context);
    });
  }

  segmentKey(videoId: string, rendition: string, sequence: number): string {
    return this.#keys.get(`${videoId}/${rendition}/${segmentName(sequence, this.packaging)}`) ?? 'missing';
  }

  async stored(videoId: string): Promise<string[]> {
    const keys: string[] = [];
    for await (const { key } of this.objects.list(hlsPrefix(WORKSPACE, videoId))) keys.push(key);
    return keys.sort();
  }

  #context(): TranscodeJobContext {
    return {
      sources: new SourceCache({
        folder: mkdtempSync(join(this.directory, 'sources-')),
        objects: this.objects,
        fetchesAsLinks: false,
      }),
      objects: this.objects,
      tools: this.#tools,
      recognizer: createRecognizer(this.#settings.recognizer, {
        ...this.#tools,
        script: this.#tools.recognizer,
        threads: this.#settings.threads,
        apiKey: undefined,
      }),
      settings: this.#settings,
      logger: this.#logger,
      jobsDir: this.#settings.workDir,
      disk: { changeTo: () => {}, release: () => {} },
      metrics: { inStage: async (_stage, work) => work() },
      signal: new AbortController().signal,
      onProgress: () => {},
    };
  }
}

function sourceOf(videoId: string): string {
  return sourceKey(WORKSPACE, videoId, 'xfr_1');
}
