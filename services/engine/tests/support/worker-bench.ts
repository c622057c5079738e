import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newContentKey } from '@framelane/contracts/content-key';
import type { HdrChoice } from '@framelane/contracts/hdr';
import { newId } from '@framelane/contracts/ids';
import {
  type AudioOnlyRule,
  type ClaimTaskRequest,
  type ClaimTaskResponse,
  claimTaskResponse,
  type ReportNoRoomRequest,
  type StorePlanRequest,
  storePlanRequest,
} from '@framelane/contracts/internal-api';
import {
  type CommandType,
  createMessage,
  type Message,
  type MessageData,
} from '@framelane/contracts/messages';
import { PLANNING_TASK, taskNumber } from '@framelane/contracts/outputs/tasks';
import type { AlternativeCodec } from '@framelane/contracts/renditions';
import type { TranscodePlan } from '@framelane/contracts/transcode-plan';
import type { Trim } from '@framelane/contracts/trim';
import type { ClaimedWatermark } from '@framelane/contracts/watermark';
import { InProcessBus } from '@framelane/message-bus/in-process-bus';
import { FileObjectStore } from '@framelane/object-store/file-object-store';
import {
  hlsPrefix,
  outputPrefix,
  revised,
  segmentKeyBelow,
  sourceKey,
  taskFolder,
} from '@framelane/object-store/object-keys';
import { createLogger, type Logger } from '@framelane/service-kit/logger';
import { PrometheusText } from '@framelane/test-kit/prometheus-text';
import { EngineMetrics } from '../../src/metrics/engine-metrics.ts';
import { DEFAULT_MAX_RATES } from '../../src/plan/ladder.ts';
import { TranscodeWorker } from '../../src/transcode/transcode-worker.ts';
import {
  DEFAULT_TRANSCODE_LIMITS,
  type TranscodeLimits,
  type TranscodeSettings,
} from '../../src/transcode-settings.ts';
import { type MadeVideo, madeVideo } from './made-video.ts';
import { TEST_PACKAGING } from './packaging.ts';

type Result = Extract<Message, { type: 'task.completed' | 'task.failed' }>;

type BenchSettings = Partial<Omit<TranscodeSettings, 'limits'>> & {
  limits?: Partial<TranscodeLimits>;
  /** Whether the engine copies sources, as from an object store that is not on its disk. */
  copies?: boolean;
};

const WORKSPACE = newId('ws');

/** The number of each try. */
const FIRST = 1;

/** A transcode worker with a real message bus and object store, and a control plane that grants each claim once. */
export class WorkerBench {
  readonly directory: string;
  readonly objects: FileObjectStore;
  readonly worker: TranscodeWorker;
  readonly logger: Logger;
  readonly metrics: EngineMetrics;
  readonly events: Message[] = [];
  readonly contentKey = newContentKey();
  /** Videos whose highest rendition is a copy. */
  readonly copiesVideo = new Set<string>();
  /** Encoded videos with fewer key frames than one every two seconds. */
  readonly stillVideos = new Set<string>();
  /** The number of the attempt of all claims. */
  attempt = 1;
  /** Whether the control plane still regards all tries as current. It refuses the plans of others. */
  isCurrent = true;
  /** The duration of pieces; null if all videos are transcoded as a whole. */
  pieceSeconds: number | null = null;
  /** What becomes of sound alone. */
  audioOnly: AudioOnlyRule = 'refused';
  /** How the segments of all videos are packed. */
  packaging = TEST_PACKAGING;
  /** The codecs that all videos have beside H.264. */
  codecs: readonly AlternativeCodec[] = [];
  /** What becomes of high dynamic range in these codecs. */
  hdr: HdrChoice = 'sdr';
  /** The part of their sources that all videos have. */
  trim: Trim | undefined;
  /** The watermark of all videos. */
  watermark: ClaimedWatermark | undefined;
  /** Whether the control plane asks for the SHA-256 of sources. */
  hashSource = false;
  /** The control plane does not respond to claims and plans. */
  isUnreachable = false;
  /** The latest plan of each video. */
  readonly plans = new Map<string, TranscodePlan>();
  /** The hashes of the sources; undefined if the latest plan came without one. */
  readonly planHashes = new Map<string, string | undefined>();
  /** The videos of which a plan was refused. */
  readonly refusedPlans = new Set<string>();
  /** The tasks of plans that were claimed, by video. */
  readonly claimedTasks = new Map<string, number[]>();
  /** How often the worker has asked whether a task of a plan is current. */
  taskChecks = 0;
  /** The derivations that the worker has reported as too large for its disk. */
  readonly withoutRoom: ReportNoRoomRequest[] = [];
  /** The size of the source in commands. Undefined: the real one. */
  commandedBytes: number | undefined;
  /** `waitingSince` in commands: when the video began to wait. */
  waitingSince = new Date();
  /** Makes the store fail when a segment is stored. */
  refuseSegments = false;
  /** How many of the next downloads of sources fail. */
  brokenFetches = 0;
  /** The downloads of whole sources. */
  fetches = 0;
  /** The downloads of parts of sources: first and last byte. */
  readonly partsFetched: [number, number][] = [];
  /** The object store waits for it before it stores a segment. */
  #segmentGate = Promise.resolve();
  #openSegmentGate = () => {};
  readonly #bus: InProcessBus;
  readonly #claimable = new Set<string>();
  readonly #bytes = new Map<string, number>();
  #waiting: (() => void)[] = [];

  private constructor(directory: string, { limits, copies = false, ...settings }: BenchSettings) {
    const logger = createLogger({ service: 'test' });
    logger.silent = process.env.SHOW_LOGS === undefined;
    const info = logger.info.bind(logger);
    type PlanFacts = { videoId: string; copiesVideo: boolean; hasFewerKeyFrames: boolean };
    logger.info = ((event: string, facts: PlanFacts) => {
      if (event === 'transcode.planned') {
        this.copiesVideo[facts.copiesVideo ? 'add' : 'delete'](facts.videoId);
        this.stillVideos[facts.hasFewerKeyFrames ? 'add' : 'delete'](facts.videoId);
      }
      return info(event, facts);
    }) as unknown as Logger['info'];
    this.directory = directory;
    this.metrics = new EngineMetrics(['transcode'], { slots: settings.slots ?? 1, workDir: directory });
    this.logger = logger;
    this.objects = new FileObjectStore(join(directory, 'objects'));
    const fetchToFile = this.objects.fetchToFile.bind(this.objects);
    if (copies) this.objects.fetchesAsLinks = async () => false;
    this.objects.fetchToFile = async (key, path, signal, hash) => {
      this.fetches += 1;
      if (this.brokenFetches === 0) return fetchToFile(key, path, signal, hash);
      this.brokenFetches -= 1;
      throw new Error('The connection was reset');
    };
    const fetchRange = this.objects.fetchRange.bind(this.objects);
    this.objects.fetchRange = async (key, range, ...rest) => {
      this.partsFetched.push([range.start, range.end]);
      return fetchRange(key, range, ...rest);
    };
    const putStream = this.objects.putStream.bind(this.objects);
    this.objects.putStream = async (key, body, options) => {
      if (key.startsWith('hls/')) await this.#segmentGate;
      if (this.refuseSegments && key.startsWith('hls/')) throw new Error('Refused');
      return putStream(key, body, options);
    };
    this.#bus = new InProcessBus({ logger });
    this.worker = new TranscodeWorker({
      bus: this.#bus,
      objects: this.objects,
      controlPlane: {
        claimTask: async (request) => {
          this.#reach();
          const claimed =
            request.command === 'plan' ? this.#claimPlanning(request) : this.#claimTask(request);
          return claimed && claimTaskResponse.parse(claimed);
        },
        storePlan: async (request) => {
          this.#reach();
          return this.#storePlan(storePlanRequest.parse(JSON.parse(JSON.stringify(request))));
        },
        reportNoRoom: async (request) => {
          this.#reach();
          this.withoutRoom.push(request);
        },
        isTaskCurrent: async ({ task }) => {
          if (task !== PLANNING_TASK) this.taskChecks += 1;
          return this.isCurrent;
        },
      },
      logger,
      metrics: this.metrics,
      settings: {
        slots: 1,
        workDir: this.workDir,
        sandbox: 'auto',
        preset: 'ultrafast',
        maxRates: DEFAULT_MAX_RATES,
        surround: false,
        tenBit: false,
        iFrames: true,
        threads: 2,
        limits: { ...DEFAULT_TRANSCODE_LIMITS, reservedDiskBytes: 0, ...limits },
        ...settings,
      },
    });
  }

  /** @param prepare runs before the worker starts, with the directory of the bench */
  static async start({
    prepare,
    ...settings
  }: BenchSettings & { prepare?: (directory: string) => Promise<void> } = {}): Promise<WorkerBench> {
    const bench = new WorkerBench(await mkdtemp(join(tmpdir(), 'transcode-')), settings);
    await prepare?.(bench.directory);
    await bench.#bus.consume('control-plane.events', { prefetch: 10 }, async (message) => {
      bench.events.push(message);
      for (const recheck of bench.#waiting.splice(0)) recheck();
    });
    await bench.worker.start();
    return bench;
  }

  get workDir(): string {
    return join(this.directory, 'work');
  }

  async stop(): Promise<void> {
    this.#openSegmentGate();
    await this.worker.stop();
    await this.#bus.close();
    await rm(this.directory, { recursive: true, force: true });
  }

  /** Stores a file as the source of a new video. */
  async store(path: string): Promise<string> {
    const videoId = newId('vid');
    const key = sourceOf(videoId);
    const { bytes } = await this.objects.putStream(key, createReadStream(path), { contentType: 'video/mp4' });
    this.#claimable.add(videoId);
    this.#bytes.set(videoId, Math.max(1, bytes));
    return videoId;
  }

  /** Stores a file as the source of a new video, and sends the command to plan it. */
  async submit(path: string): Promise<string> {
    const videoId = await this.store(path);
    await this.command(videoId);
    return videoId;
  }

  /** Sends the command to plan a video, or another one. */
  async command(videoId: string, type: CommandType = 'plan'): Promise<void> {
    const inputBytes = this.commandedBytes ?? this.#bytes.get(videoId) ?? 1;
    const waitingSince = this.waitingSince.toISOString();
    const data = { videoId, workspaceId: WORKSPACE, inputBytes, waitingSince };
    await this.#bus.publish(createMessage(type, data));
  }

  /** Lets the worker plan a video again, and sends the command. */
  async reclaim(videoId: string): Promise<void> {
    this.#claimable.add(videoId);
    await this.command(videoId);
  }

  /** Sends a command for the tasks of a plan. */
  async commandTask(videoId: string): Promise<void> {
    await this.command(videoId, 'task');
  }

  #reach(): void {
    if (this.isUnreachable) throw new Error('The control plane is unreachable');
  }

  #claimPlanning({ videoId }: ClaimTaskRequest): ClaimTaskResponse | null {
    if (!this.#claimable.delete(videoId)) return null;
    const { hashSource, pieceSeconds, audioOnly, packaging, codecs, hdr, trim } = this;
    const work = {
      kind: 'plan' as const,
      hashSource,
      pieceSeconds,
      audioOnly,
      packaging,
      codecs,
      hdr,
      ...(trim && { trim }),
    };
    return { ...this.#claimed(videoId, PLANNING_TASK), work };
  }

  #claimTask({ videoId, command }: ClaimTaskRequest): ClaimTaskResponse | null {
    const claimed = this.claimedTasks.get(videoId) ?? [];
    const plan = this.plans.get(videoId);
    if (plan === undefined) return null;
    const { tasks, optionalTasks } = plan;
    const ofCommand = command === 'background' ? optionalTasks : tasks;
    const numbers = ofCommand.map((_, at) => taskNumber(ofCommand === tasks ? at : tasks.length + at));
    const position = numbers.findIndex((number) => !claimed.includes(number));
    const [task, work] = [numbers[position], ofCommand[position]];
    if (task === undefined || work === undefined) return null;
    this.claimedTasks.set(videoId, [...claimed, task]);
    return { ...this.#claimed(videoId, task), work, plan };
  }

  #claimed(videoId: string, task: number) {
    return {
      attempt: this.attempt,
      task,
      try: FIRST,
      contentKey: this.contentKey.toString('base64'),
      sourceKey: sourceOf(videoId),
      ...(this.watermark && { watermark: this.watermark }),
      inputBytes: this.#bytes.get(videoId) ?? 1,
      leaseSeconds: 4,
    };
  }

  #prefixOf(videoId: string): string {
    const folder = revised(taskFolder(PLANNING_TASK, FIRST), this.plans.get(videoId)?.revision ?? 0);
    return outputPrefix({ workspaceId: WORKSPACE, videoId, attempt: this.attempt, folder });
  }

  #storePlan({ videoId, plan, sourceSha256 }: StorePlanRequest): boolean {
    if (this.isCurrent) {
      this.plans.set(videoId, plan);
      this.planHashes.set(videoId, sourceSha256);
    } else this.refusedPlans.add(videoId);
    return this.isCurrent;
  }

  /** From now on, the object store stores no segment until the returned function is called, or the bench stops. */
  holdSegments(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#segmentGate = promise;
    this.#openSegmentGate = resolve;
    return resolve;
  }

  /** The facts of all warnings of an event from now on. */
  warningsOf(event: string): object[] {
    const found: object[] = [];
    const warn = this.logger.warn.bind(this.logger);
    this.logger.warn = ((name: string, facts: object) => {
      if (name === event) found.push(facts);
      return warn(name, facts);
    }) as unknown as Logger['warn'];
    return found;
  }

  /** The value of a series of the engine's metrics, such as `name{label="value"}`. */
  async metric(series: string): Promise<number | undefined> {
    return PrometheusText.parse(await this.metrics.registry.metrics()).series.get(series);
  }

  /** The results of a video so far, without those of the tasks of its plan. */
  results(videoId: string): Result[] {
    return this.events.filter((event) => isResultOf(event, videoId));
  }

  /** All reported progress of a video. */
  progress(videoId: string): number[] {
    return this.events.flatMap((event) =>
      event.type === 'task.progress' && event.data.videoId === videoId ? [event.data.fraction] : [],
    );
  }

  /** Transcodes a file as a whole. Throws if the try fails. */
  async transcode(path: string): Promise<{ videoId: string; manifest: MadeVideo }> {
    const videoId = await this.submit(path);
    return { videoId, manifest: await this.manifest(videoId) };
  }

  /** Resolves with the manifest of a whole video, from its plan and its result. Throws if the try fails. */
  async manifest(videoId: string): Promise<MadeVideo> {
    const outcome = await this.result(videoId);
    if (outcome.type !== 'task.completed') throw new Error(`Failed: ${JSON.stringify(outcome.data)}`);
    const plan = this.plans.get(videoId);
    if (plan === undefined) throw new Error('The video has no plan');
    return madeVideo(plan, [outcome.data.result]);
  }

  /** Transcodes a file, and resolves with the failure. */
  async refuse(path: string): Promise<MessageData<'task.failed'>> {
    return this.failure(await this.submit(path));
  }

  async failure(videoId: string): Promise<MessageData<'task.failed'>> {
    const outcome = await this.result(videoId);
    if (outcome.type !== 'task.failed') throw new Error('The try succeeded');
    return outcome.data;
  }

  /** Object key of the source of a video. */
  sourceOf(videoId: string): string {
    return sourceOf(videoId);
  }

  /** Object key of a segment of a whole video. */
  segmentKey(videoId: string, rendition: string, sequence: number): string {
    const packaging = this.plans.get(videoId)?.encode.packaging ?? this.packaging;
    return segmentKeyBelow(this.#prefixOf(videoId), rendition, sequence, packaging);
  }

  /** Object key of an image of a whole video. */
  imageKey(videoId: string, name: string): string {
    return `${this.#prefixOf(videoId)}${name}`;
  }

  /** Keys of all objects of a video's output. */
  async stored(videoId: string): Promise<string[]> {
    const keys: string[] = [];
    for await (const { key } of this.objects.list(hlsPrefix(WORKSPACE, videoId))) keys.push(key);
    return keys.sort();
  }

  /** Resolves with the result of a video; waits for it if necessary. */
  async result(videoId: string): Promise<Result> {
    for (;;) {
      const [result] = this.results(videoId);
      if (result) return result;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push(resolve);
      await promise;
    }
  }
}

/** What the checks of stored videos need. */
export type StoredVideos = Pick<
  WorkerBench,
  | 'directory'
  | 'objects'
  | 'contentKey'
  | 'copiesVideo'
  | 'stillVideos'
  | 'packaging'
  | 'segmentKey'
  | 'stored'
>;

function sourceOf(videoId: string): string {
  return sourceKey(WORKSPACE, videoId, 'xfr_1');
}

function isResultOf(message: Message, videoId: string): message is Result {
  const isResult = message.type === 'task.completed' || message.type === 'task.failed';
  return isResult && message.data.videoId === videoId && message.data.task === PLANNING_TASK;
}
