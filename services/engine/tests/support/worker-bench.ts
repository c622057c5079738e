import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newContentKey } from '@framelane/contracts/content-key';
import { newId } from '@framelane/contracts/ids';
import type { ClaimTaskResponse } from '@framelane/contracts/internal-api';
import type { Manifest } from '@framelane/contracts/manifest';
import { createMessage, type Message, type MessageData } from '@framelane/contracts/messages';
import type { TranscodePlan } from '@framelane/contracts/transcode-plan';
import { InProcessBus } from '@framelane/message-bus/in-process-bus';
import { FileObjectStore } from '@framelane/object-store/file-object-store';
import { sourceKey } from '@framelane/object-store/object-keys';
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

type Result = Extract<Message, { type: 'transcode.completed' | 'transcode.failed' }>;

type BenchSettings = Partial<Omit<TranscodeSettings, 'limits'>> & {
  limits?: Partial<TranscodeLimits>;
  /** Whether the engine copies sources, as from an object store that is not on its disk. */
  copies?: boolean;
};

const WORKSPACE = newId('ws');

/** A transcode worker with a real message bus and object store, and a control plane that grants each claim once. */
export class WorkerBench {
  readonly directory: string;
  readonly objects: FileObjectStore;
  readonly worker: TranscodeWorker;
  readonly logger: Logger;
  readonly metrics: EngineMetrics;
  readonly events: Message[] = [];
  readonly contentKey = newContentKey();
  /** Videos whose highest rendition is passthrough. */
  readonly videoPassthrough = new Set<string>();
  /** Whether the control plane still regards all attempts and tasks as current. */
  isCurrent = true;
  /** What the control plane responds to a claim; undefined for one of an earlier version. */
  severalAudioTracks: boolean | undefined = true;
  /** The duration of pieces; undefined if all videos are transcoded in one run. */
  pieceSeconds: number | undefined;
  /** Whether the control plane asks for the SHA-256 of sources; undefined for one of an earlier version. */
  hashSource: boolean | undefined;
  /** The control plane does not respond to claims and plans. */
  isUnreachable = false;
  /** The plans of long videos. */
  readonly plans = new Map<string, TranscodePlan>();
  /** The hashes of the sources of long videos; undefined if the plan came without one. */
  readonly planHashes = new Map<string, string | undefined>();
  /** The tasks that were claimed, by video. */
  readonly claimedTasks = new Map<string, number[]>();
  /** How often the worker has asked whether a task is current. */
  taskChecks = 0;
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
  readonly #claimable = new Map<string, number>();
  readonly #bytes = new Map<string, number>();
  #waiting: (() => void)[] = [];

  private constructor(directory: string, { limits, copies = false, ...settings }: BenchSettings) {
    const logger = createLogger({ service: 'test' });
    logger.silent = process.env.SHOW_LOGS === undefined;
    const info = logger.info.bind(logger);
    logger.info = ((event: string, facts: { videoId: string; videoPassthrough: boolean }) => {
      if (event === 'transcode.planned')
        this.videoPassthrough[facts.videoPassthrough ? 'add' : 'delete'](facts.videoId);
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
        claimAttempt: async ({ videoId }) => {
          this.#reach();
          const sourceBytes = this.#claimable.get(videoId);
          if (sourceBytes === undefined) return null;
          this.#claimable.delete(videoId);
          return {
            attempt: 1,
            contentKey: this.contentKey.toString('base64'),
            sourceKey: sourceOf(videoId),
            sourceBytes,
            ...(this.severalAudioTracks && { severalAudioTracks: true }),
            ...(this.pieceSeconds && { pieceSeconds: this.pieceSeconds }),
            ...(this.hashSource !== undefined && { hashSource: this.hashSource }),
            leaseSeconds: 4,
          };
        },
        isAttemptCurrent: async () => this.isCurrent,
        planAttempt: async ({ videoId, plan, sourceSha256 }) => {
          this.#reach();
          this.plans.set(videoId, plan);
          this.planHashes.set(videoId, sourceSha256);
          return this.isCurrent;
        },
        claimTask: async ({ videoId }) => this.#claimTask(videoId),
        isTaskCurrent: async () => {
          this.taskChecks += 1;
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
    this.#claimable.set(videoId, Math.max(1, bytes));
    this.#bytes.set(videoId, Math.max(1, bytes));
    return videoId;
  }

  /** Stores a file as the source of a new video, and sends a transcode command. */
  async submit(path: string): Promise<string> {
    const videoId = await this.store(path);
    await this.command(videoId);
    return videoId;
  }

  /** Sends a transcode command. */
  async command(videoId: string): Promise<void> {
    const sourceBytes = this.commandedBytes ?? this.#bytes.get(videoId) ?? 1;
    const waitingSince = this.waitingSince.toISOString();
    const data = { videoId, workspaceId: WORKSPACE, sourceBytes, waitingSince };
    await this.#bus.publish(createMessage('transcode', data));
  }

  /** Lets the worker claim another attempt at a video, and sends a transcode command. */
  async reclaim(videoId: string): Promise<void> {
    this.#claimable.set(videoId, this.#bytes.get(videoId) ?? 1);
    await this.command(videoId);
  }

  /** Sends a command for the tasks of a long video. */
  async commandTask(videoId: string): Promise<void> {
    const sourceBytes = this.commandedBytes ?? this.#bytes.get(videoId) ?? 1;
    await this.#bus.publish(createMessage('task', { videoId, workspaceId: WORKSPACE, sourceBytes }));
  }

  #reach(): void {
    if (this.isUnreachable) throw new Error('The control plane is unreachable');
  }

  async #claimTask(videoId: string): Promise<ClaimTaskResponse | null> {
    this.#reach();
    const claimed = this.claimedTasks.get(videoId) ?? [];
    const task = claimed.length;
    const plan = this.plans.get(videoId);
    const work = plan?.tasks[task];
    if (plan === undefined || work === undefined) return null;
    this.claimedTasks.set(videoId, [...claimed, task]);
    return {
      ...{ attempt: 1, task, try: 1, plan, work, contentKey: this.contentKey.toString('base64') },
      ...{ sourceKey: sourceOf(videoId), sourceBytes: this.#bytes.get(videoId) ?? 1, leaseSeconds: 4 },
    };
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

  /** All results of a video so far. */
  results(videoId: string): Message[] {
    return this.events.filter((event) => isResult(event) && event.data.videoId === videoId);
  }

  /** All reported progress of a video. */
  progress(videoId: string): number[] {
    return this.events.flatMap((event) =>
      event.type === 'transcode.progress' && event.data.videoId === videoId ? [event.data.fraction] : [],
    );
  }

  /** Transcodes a file. Throws if the attempt fails. */
  async transcode(path: string): Promise<{ videoId: string; manifest: Manifest }> {
    const videoId = await this.submit(path);
    return { videoId, manifest: await this.manifest(videoId) };
  }

  /** Resolves with the manifest. Throws if the attempt fails. */
  async manifest(videoId: string): Promise<Manifest> {
    const outcome = await this.result(videoId);
    if (outcome.type !== 'transcode.completed') throw new Error(`Failed: ${JSON.stringify(outcome.data)}`);
    return outcome.data.manifest;
  }

  /** Transcodes a file, and resolves with the failure. */
  async refuse(path: string): Promise<MessageData<'transcode.failed'>> {
    return this.failure(await this.submit(path));
  }

  async failure(videoId: string): Promise<MessageData<'transcode.failed'>> {
    const outcome = await this.result(videoId);
    if (outcome.type !== 'transcode.failed') throw new Error('The attempt succeeded');
    return outcome.data;
  }

  /** Object key of the source of a video. */
  sourceOf(videoId: string): string {
    return sourceOf(videoId);
  }

  /** Object key of a segment. */
  segmentKey(videoId: string, rendition: string, sequence: number): string {
    return `hls/${WORKSPACE}/${videoId}/a1/${rendition}/${sequence}.ts`;
  }

  /** Object key of an image. */
  imageKey(videoId: string, name: string): string {
    return `hls/${WORKSPACE}/${videoId}/a1/${name}`;
  }

  /** Keys of all objects of a video's output. */
  async stored(videoId: string): Promise<string[]> {
    const keys: string[] = [];
    for await (const { key } of this.objects.list(`hls/${WORKSPACE}/${videoId}/`)) keys.push(key);
    return keys.sort();
  }

  /** Resolves with the result of a video; waits for it if necessary. */
  async result(videoId: string): Promise<Result> {
    for (;;) {
      const result = this.events.filter(isResult).find(({ data }) => data.videoId === videoId);
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
  'directory' | 'objects' | 'contentKey' | 'videoPassthrough' | 'segmentKey' | 'stored'
>;

function sourceOf(videoId: string): string {
  return sourceKey(WORKSPACE, videoId, 'xfr_1');
}

function isResult(message: Message): message is Result {
  return message.type === 'transcode.completed' || message.type === 'transcode.failed';
}
