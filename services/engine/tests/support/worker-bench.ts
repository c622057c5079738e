import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newContentKey } from '@framelane/contracts/content-key';
import { newId } from '@framelane/contracts/ids';
import type { Manifest } from '@framelane/contracts/manifest';
import { createMessage, type Message, type MessageData } from '@framelane/contracts/messages';
import { InProcessBus } from '@framelane/message-bus/in-process-bus';
import { FileObjectStore } from '@framelane/object-store/file-object-store';
import { sourceKey } from '@framelane/object-store/object-keys';
import { createLogger, type Logger } from '@framelane/service-kit/logger';
import { EngineMetrics } from '../../src/metrics/engine-metrics.ts';
import { DEFAULT_MAX_RATES } from '../../src/plan/ladder.ts';
import { TranscodeWorker } from '../../src/transcode/transcode-worker.ts';
import {
  DEFAULT_TRANSCODE_LIMITS,
  type TranscodeLimits,
  type TranscodeSettings,
} from '../../src/transcode-settings.ts';

type Result = Extract<Message, { type: 'transcode.completed' | 'transcode.failed' }>;

type BenchSettings = Partial<Omit<TranscodeSettings, 'limits'>> & { limits?: Partial<TranscodeLimits> };

const WORKSPACE = newId('ws');

/** A transcode worker on a real bus and a real store, with a control plane that grants every claim once. */
export class WorkerBench {
  readonly directory: string;
  readonly objects: FileObjectStore;
  readonly worker: TranscodeWorker;
  readonly logger: Logger;
  readonly events: Message[] = [];
  readonly contentKey = newContentKey();
  /** Videos whose top rung is the source's own. */
  readonly keptTop = new Set<string>();
  /** What the control plane answers to `attemptWanted`. */
  wanted = true;
  /** What commands say of the size of a source, where that is not the truth, and since when it waits. */
  commandedBytes: number | undefined;
  waitingSince = new Date();
  /** Makes the store fail when a segment is stored. */
  refuseSegments = false;
  /** Fetches of sources that break off from now on. */
  brokenFetches = 0;
  /** What the store waits for before it takes a segment. */
  takesSegments: Promise<void> = Promise.resolve();
  readonly #bus: InProcessBus;
  readonly #claimable = new Map<string, number>();
  readonly #bytes = new Map<string, number>();
  #waiting: (() => void)[] = [];

  private constructor(directory: string, { limits, ...settings }: BenchSettings) {
    const logger = createLogger({ service: 'test' });
    logger.silent = process.env.SHOW_LOGS === undefined;
    const info = logger.info.bind(logger);
    logger.info = ((event: string, facts: { videoId: string; videoPassthrough: boolean }) => {
      if (event === 'transcode.planned')
        this.keptTop[facts.videoPassthrough ? 'add' : 'delete'](facts.videoId);
      return info(event, facts);
    }) as unknown as Logger['info'];
    this.directory = directory;
    this.logger = logger;
    this.objects = new FileObjectStore(join(directory, 'objects'));
    const fetchToFile = this.objects.fetchToFile.bind(this.objects);
    this.objects.fetchToFile = async (key, path, signal) => {
      if (this.brokenFetches === 0) return fetchToFile(key, path, signal);
      this.brokenFetches -= 1;
      throw new Error('The connection broke off');
    };
    const putStream = this.objects.putStream.bind(this.objects);
    this.objects.putStream = async (key, body, options) => {
      if (key.startsWith('hls/')) await this.takesSegments;
      if (this.refuseSegments && key.startsWith('hls/')) throw new Error('The disk is on fire');
      return putStream(key, body, options);
    };
    this.#bus = new InProcessBus({ logger });
    this.worker = new TranscodeWorker({
      bus: this.#bus,
      objects: this.objects,
      controlPlane: {
        claimAttempt: async ({ videoId }) => {
          const sourceBytes = this.#claimable.get(videoId);
          if (sourceBytes === undefined) return null;
          this.#claimable.delete(videoId);
          return {
            attempt: 1,
            contentKey: this.contentKey.toString('base64'),
            sourceKey: sourceOf(videoId),
            sourceBytes,
            leaseSeconds: 4,
          };
        },
        attemptWanted: async () => this.wanted,
      },
      logger,
      metrics: new EngineMetrics({ slots: settings.slots ?? 1, workDir: directory }),
      settings: {
        slots: 1,
        workDir: this.workDir,
        sandbox: 'auto',
        preset: 'ultrafast',
        maxRates: DEFAULT_MAX_RATES,
        threads: 2,
        limits: { ...DEFAULT_TRANSCODE_LIMITS, reservedDiskBytes: 0, ...limits },
        ...settings,
      },
    });
  }

  /** `prepare` is called before the worker starts, with the directory of the bench. */
  static async start({
    prepare,
    ...settings
  }: BenchSettings & { prepare?: (directory: string) => Promise<void> } = {}): Promise<WorkerBench> {
    const bench = new WorkerBench(await mkdtemp(join(tmpdir(), 'transcode-')), settings);
    await prepare?.(bench.directory);
    await bench.#bus.consume('control-plane.events', { prefetch: 10 }, async (message) => {
      bench.events.push(message);
      for (const look of bench.#waiting.splice(0)) look();
    });
    await bench.worker.start();
    return bench;
  }

  get workDir(): string {
    return join(this.directory, 'work');
  }

  async stop(): Promise<void> {
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

  /** Stores a file as the source of a new video, and commands to transcode it. */
  async submit(path: string): Promise<string> {
    const videoId = await this.store(path);
    await this.command(videoId);
    return videoId;
  }

  /** Commands to transcode a video. */
  async command(videoId: string): Promise<void> {
    const sourceBytes = this.commandedBytes ?? this.#bytes.get(videoId) ?? 1;
    const waitingSince = this.waitingSince.toISOString();
    const data = { videoId, workspaceId: WORKSPACE, sourceKey: sourceOf(videoId), sourceBytes, waitingSince };
    await this.#bus.publish(createMessage('transcode', data));
  }

  /** All results there were for a video. */
  results(videoId: string): Message[] {
    return this.events.filter((event) => isResult(event) && event.data.videoId === videoId);
  }

  /** The parts done that were told of a video. */
  progress(videoId: string): number[] {
    return this.events.flatMap((event) =>
      event.type === 'transcode.progress' && event.data.videoId === videoId ? [event.data.fraction] : [],
    );
  }

  /** Transcodes a file that can be. */
  async transcode(path: string): Promise<{ videoId: string; manifest: Manifest }> {
    const videoId = await this.submit(path);
    return { videoId, manifest: await this.manifest(videoId) };
  }

  /** Resolves with what was made of a video. */
  async manifest(videoId: string): Promise<Manifest> {
    const outcome = await this.result(videoId);
    if (outcome.type !== 'transcode.completed') throw new Error(`Failed: ${JSON.stringify(outcome.data)}`);
    return outcome.data.manifest;
  }

  /** Tries a file that cannot be transcoded. */
  async refuse(path: string): Promise<MessageData<'transcode.failed'>> {
    return this.failure(await this.submit(path));
  }

  async failure(videoId: string): Promise<MessageData<'transcode.failed'>> {
    const outcome = await this.result(videoId);
    if (outcome.type !== 'transcode.failed') throw new Error('It was transcoded');
    return outcome.data;
  }

  /** Where a segment is stored. */
  segmentKey(videoId: string, rendition: string, sequence: number): string {
    return `hls/${WORKSPACE}/${videoId}/a1/${rendition}/${sequence}.ts`;
  }

  /** Where a picture is stored. */
  imageKey(videoId: string, name: string): string {
    return `hls/${WORKSPACE}/${videoId}/a1/${name}`;
  }

  /** Keys of everything made for a video. */
  async stored(videoId: string): Promise<string[]> {
    const keys: string[] = [];
    for await (const { key } of this.objects.list(`hls/${WORKSPACE}/${videoId}/`)) keys.push(key);
    return keys.sort();
  }

  /** Resolves with the result for a video, past or to come. */
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

function sourceOf(videoId: string): string {
  return sourceKey(WORKSPACE, videoId, 'xfr_1');
}

function isResult(message: Message): message is Result {
  return message.type === 'transcode.completed' || message.type === 'transcode.failed';
}
