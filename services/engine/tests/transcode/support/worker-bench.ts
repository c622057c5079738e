import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newContentKey, sealContentKey } from '@framelane/contracts/content-key';
import { newId } from '@framelane/contracts/ids';
import type { Manifest } from '@framelane/contracts/manifest';
import { createMessage, type Message, type MessageData } from '@framelane/contracts/messages';
import { InProcessBus } from '@framelane/message-bus/in-process-bus';
import { FileObjectStore } from '@framelane/object-store/file-object-store';
import { sourceKey } from '@framelane/object-store/object-keys';
import { createLogger } from '@framelane/service-kit/logger';
import {
  DEFAULT_TRANSCODE_LIMITS,
  type TranscodeSettings,
} from '../../../src/transcode/transcode-settings.ts';
import { TranscodeWorker } from '../../../src/transcode/transcode-worker.ts';

const WORKSPACE = newId('ws');

/** A transcode worker on a real bus and a real store, with a control plane that grants every claim once. */
export class WorkerBench {
  readonly directory: string;
  readonly objects: FileObjectStore;
  readonly worker: TranscodeWorker;
  readonly events: Message[] = [];
  readonly contentKey = newContentKey();
  /** What the control plane answers to `attemptWanted`. */
  wanted = true;
  readonly #bus: InProcessBus;
  readonly #claimable = new Map<string, number>();
  readonly #waiting = new Set<() => void>();

  private constructor(directory: string, settings: Partial<TranscodeSettings>) {
    const secret = randomBytes(32);
    const logger = createLogger({ service: 'test', level: process.env.LOG_LEVEL ?? 'error' });
    this.directory = directory;
    this.objects = new FileObjectStore(join(directory, 'objects'));
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
            contentKey: await sealContentKey(this.contentKey, secret),
            sourceKey: sourceKey(WORKSPACE, videoId),
            sourceBytes,
            leaseSeconds: 4,
          };
        },
        attemptWanted: async () => this.wanted,
      },
      logger,
      settings: {
        slots: 1,
        workDir: this.workDir,
        contentKeySecret: secret,
        sandbox: 'auto',
        preset: 'ultrafast',
        threads: 2,
        limits: { ...DEFAULT_TRANSCODE_LIMITS, spareDiskBytes: 0 },
        ...settings,
      },
    });
  }

  static async start(settings: Partial<TranscodeSettings> = {}): Promise<WorkerBench> {
    const bench = new WorkerBench(await mkdtemp(join(tmpdir(), 'transcode-')), settings);
    await bench.#bus.consume('control-plane.events', { prefetch: 10 }, async (message) => {
      bench.events.push(message);
      for (const look of bench.#waiting) look();
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

  /** Stores a file as the source of a new video, and commands to transcode it. */
  async submit(path: string): Promise<string> {
    const videoId = newId('vid');
    const key = sourceKey(WORKSPACE, videoId);
    const { bytes } = await this.objects.putStream(key, createReadStream(path), { contentType: 'video/mp4' });
    this.#claimable.set(videoId, Math.max(1, bytes));
    await this.#bus.publish(createMessage('transcode', { videoId, workspaceId: WORKSPACE, sourceKey: key }));
    return videoId;
  }

  /** Resolves with the first event that fits, past or to come. */
  async event<T>(pick: (message: Message) => T | undefined): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<T>();
    const look = () => {
      for (const message of this.events) {
        const picked = pick(message);
        if (picked !== undefined) resolve(picked);
      }
    };
    this.#waiting.add(look);
    look();
    try {
      return await promise;
    } finally {
      this.#waiting.delete(look);
    }
  }

  /** Transcodes a file that can be. */
  async transcode(path: string): Promise<{ videoId: string; manifest: Manifest }> {
    const videoId = await this.submit(path);
    const outcome = await this.#outcome(videoId);
    if (outcome.type !== 'transcode.completed') throw new Error(`Failed: ${JSON.stringify(outcome.data)}`);
    return { videoId, manifest: outcome.data.manifest };
  }

  /** Tries a file that cannot be transcoded. */
  async refuse(path: string): Promise<MessageData<'transcode.failed'>> {
    return this.failure(await this.submit(path));
  }

  async failure(videoId: string): Promise<MessageData<'transcode.failed'>> {
    const outcome = await this.#outcome(videoId);
    if (outcome.type !== 'transcode.failed') throw new Error('It was transcoded');
    return outcome.data;
  }

  /** Where a segment is stored. */
  segmentKey(videoId: string, rendition: string, sequence: number): string {
    return `hls/${WORKSPACE}/${videoId}/a1/${rendition}/${sequence}.ts`;
  }

  /** Keys of everything made for a video. */
  async stored(videoId: string): Promise<string[]> {
    const keys: string[] = [];
    for await (const { key } of this.objects.list(`hls/${WORKSPACE}/${videoId}/`)) keys.push(key);
    return keys.sort();
  }

  #outcome(videoId: string) {
    return this.event((message) =>
      (message.type === 'transcode.completed' || message.type === 'transcode.failed') &&
      message.data.videoId === videoId
        ? message
        : undefined,
    );
  }
}
