import { buffer } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { S3Client } from '@aws-sdk/client-s3';
import { FakeS3 } from '@framelane/test-kit/fake-s3';
import { Random, testSeed } from '@framelane/test-kit/random';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Checkpoint } from '../src/object-store.ts';
import { S3ObjectStore } from '../src/s3-object-store.ts';
import { SharedBuffers } from '../src/s3-parts.ts';
import { type ResumableDeps, S3ResumableWriter } from '../src/s3-resumable.ts';
import { beginMultipartUpload } from '../src/s3-upload.ts';

/** Small parts make a schedule cheap. The rules do not depend on the size. */
const PART = 64;
/** Four parts in transfer, and the one being filled. */
const MOST_LOST = 5 * PART;
const SCHEDULES = 60;

const seed = testSeed();
let fake: FakeS3;
let client: S3Client;
let store: S3ObjectStore;

/** The network between the writers and the server. */
const network = {
  /** Whether parts are held. They reach the server later or never, also when their process is dead by then. */
  isHolding: false,
  /** Each of these functions sends a held part. */
  held: [] as (() => Promise<unknown>)[],
  losesResponses: false,
};

function sendPartsThroughNetwork(): void {
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (request) => {
        if (commandName !== 'UploadPartCommand') return next(request);
        const input = request.input as { Body: Uint8Array };
        // The writer reuses its buffers.
        const copy = {
          ...request,
          input: { ...input, Body: Buffer.from(input.Body) } as typeof request.input,
        };
        if (network.isHolding) {
          network.held.push(() => next(copy).catch(() => {}));
          return new Promise<never>(() => {});
        }
        const response = await next(copy);
        if (network.losesResponses) throw new Error('The connection broke');
        return response;
      },
    { step: 'initialize' },
  );
}

beforeAll(async () => {
  fake = await FakeS3.start();
  fake.minPartBytes = 1;
  // A list of parts has several pages.
  fake.pageSize = 3;
  const common = {
    endpoint: fake.endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
  };
  const secrets = { accessKeyId: 'id', secretAccessKey: 'secret' };
  client = new S3Client({
    ...common,
    credentials: secrets,
    maxAttempts: 1,
    requestChecksumCalculation: 'WHEN_REQUIRED',
  });
  sendPartsThroughNetwork();
  store = new S3ObjectStore({ ...common, ...secrets, bucket: fake.bucket });
});
afterAll(async () => {
  client.destroy();
  store.close();
  await fake.stop();
});

/** One upload, with engines that are killed, that hang and continue, and that leave objects behind. */
class Schedule {
  readonly #random: Random;
  readonly #key: string;
  readonly #content: Buffer;
  readonly #deps: ResumableDeps;
  /** The checkpoint that the control plane has stored. */
  #saved: Checkpoint;
  /** The offset of the latest writer when it ended. */
  #reached = 0;
  /** Engines that have lost the upload and do not know it. */
  readonly #stale: S3ResumableWriter[] = [];

  static async begin(number: number): Promise<Schedule> {
    const key = `s/v/x${number}/original`;
    const id = await beginMultipartUpload(client, {
      Bucket: fake.bucket,
      Key: key,
      ContentType: 'video/mp4',
    });
    return new Schedule(new Random(seed + number), key, {
      id,
      durableBytes: 0,
      tail: [],
      laterBytesUntrusted: false,
    });
  }

  private constructor(random: Random, key: string, begun: Checkpoint) {
    this.#random = random;
    this.#key = key;
    this.#saved = begun;
    const length = 1 + this.#below(9 * PART) + (random.fraction() < 0.3 ? PART : 0);
    // Sometimes whole parts.
    const rounded = random.fraction() < 0.2 ? Math.ceil(length / PART) * PART : length;
    this.#content = Buffer.from(Array.from({ length: rounded }, () => this.#below(256)));
    this.#deps = {
      client,
      bucket: fake.bucket,
      shared: new SharedBuffers(PART),
      sizeOf: async (name) => (await store.head(name))?.bytes ?? null,
      read: async (name) => buffer((await store.get(name)).body),
      delete: async (keys) => {
        for (const name of keys) fake.objects.delete(name);
      },
    };
  }

  /** Runs until the object is complete. */
  async run(): Promise<void> {
    for (let engines = 0; !(await this.#continue()); engines += 1) expect(engines).toBeLessThan(200);
    const stored = await buffer((await store.get(this.#key)).body);
    expect(stored.equals(this.#content)).toBe(true);
  }

  /** Continues the upload at another engine. Resolves with whether the object is complete. */
  async #continue(): Promise<boolean> {
    await this.#sendLate();
    const writer = await S3ResumableWriter.resume(
      this.#deps,
      this.#key,
      JSON.parse(JSON.stringify(this.#saved)),
      this.#content.byteLength,
    );
    expect(writer.offset).toBeGreaterThanOrEqual(this.#saved.durableBytes);
    if (!this.#saved.laterBytesUntrusted)
      expect(this.#reached - writer.offset).toBeLessThanOrEqual(MOST_LOST);
    for (let steps = this.#below(4); steps > 0; steps -= 1) {
      await this.#write(writer, this.#below(3 * PART));
      if (this.#random.fraction() < 0.6) await this.#save(writer);
      await this.#stir();
    }
    const end = this.#random.pick([
      this.#pause,
      this.#kill,
      this.#hang,
      this.#lose,
      this.#corrupt,
      this.#finish,
    ]);
    const isComplete = await end.call(this, writer);
    this.#reached = writer.offset;
    return isComplete;
  }

  async #write(writer: S3ResumableWriter, bytes: number): Promise<void> {
    await writer.write(this.#content.subarray(writer.offset, writer.offset + bytes));
  }

  async #save(writer: S3ResumableWriter): Promise<void> {
    this.#saved = await writer.settle();
    expect(this.#saved.durableBytes).toBe(writer.offset);
    await writer.prune();
  }

  /** A clean end loses nothing. */
  async #pause(writer: S3ResumableWriter): Promise<boolean> {
    await this.#save(writer);
    await writer.close();
    return false;
  }

  /** Kills the engine while parts are in transfer. Some arrive now, some later, some never. */
  async #kill(writer: S3ResumableWriter): Promise<boolean> {
    network.isHolding = true;
    // When four parts are held, the writer takes no more.
    const writing = this.#write(writer, this.#below(9 * PART));
    await Promise.race([writing, turns(20)]);
    network.isHolding = false;
    await this.#sendLate();
    return false;
  }

  /** The engine loses the upload without knowing it. */
  async #hang(writer: S3ResumableWriter): Promise<boolean> {
    this.#stale.push(writer);
    return false;
  }

  /** Parts are stored, but their responses are lost. */
  async #lose(writer: S3ResumableWriter): Promise<boolean> {
    network.losesResponses = true;
    const save = async () => {
      await this.#write(writer, this.#below(4 * PART));
      await this.#save(writer);
    };
    await save().catch(() => {});
    network.losesResponses = false;
    await writer.close();
    return false;
  }

  /** A body with a wrong checksum. */
  async #corrupt(writer: S3ResumableWriter): Promise<boolean> {
    if (this.#random.fraction() < 0.5) return this.#pause(writer);
    writer.laterBytesUntrusted = true;
    await this.#save(writer);
    const bytes = this.#below(Math.min(3 * PART, this.#content.byteLength - writer.offset + 1));
    await writer.write(Buffer.alloc(bytes, 'wrong'));
    // Nothing fences parts with wrong bytes that arrive late (ADR 31), so all of them arrive now.
    await writer.close();
    return false;
  }

  async #finish(writer: S3ResumableWriter): Promise<boolean> {
    while (writer.offset < this.#content.byteLength) {
      await this.#write(writer, PART + this.#below(2 * PART));
      await this.#stir();
    }
    await this.#save(writer);
    if (this.#random.fraction() < 0.3) return this.#kill(writer);
    const losesResponse = this.#random.fraction() < 0.3;
    if (losesResponse) fake.inject('CompleteUpload', 'cut-after', 1);
    await writer.complete();
    await writer.close();
    return true;
  }

  /** Engines that have lost the upload still send parts, and store objects that no checkpoint names. */
  async #stir(): Promise<void> {
    await this.#sendLate();
    for (const writer of this.#stale) {
      if (this.#random.fraction() < 0.5) continue;
      await this.#write(writer, this.#below(2 * PART)).catch(() => {});
      if (this.#random.fraction() < 0.3) await writer.settle().catch(() => {});
    }
  }

  /** Some held parts arrive, in any order, some get lost, and the others stay in transfer. */
  async #sendLate(): Promise<void> {
    const held = network.held.splice(0).sort(() => this.#random.fraction() - 0.5);
    for (const part of held) {
      const fate = this.#random.fraction();
      if (fate < 0.4) await part();
      else if (fate < 0.8) network.held.push(part);
    }
  }

  #below(end: number): number {
    return Math.floor(this.#random.fraction() * end);
  }
}

/** Lets the event loop turn, so that what waits only for this process can continue. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await setImmediate();
}

test(`no schedule of kills, hanging engines, late parts and lost responses loses an acknowledged byte (PROPERTY_SEED=${seed})`, async () => {
  for (let number = 0; number < SCHEDULES; number += 1) {
    const schedule = await Schedule.begin(number);
    await schedule.run().catch((error: unknown) => {
      throw new Error(`Schedule ${number}`, { cause: error });
    });
    network.held.length = 0;
  }
});
