import { randomUUID } from 'node:crypto';
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  ListMultipartUploadsCommand,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3';
import type { FakeS3 } from '@framelane/test-kit/fake-s3';

/** The storage settings of a service. */
type S3Settings = Record<
  'S3_ENDPOINT' | 'S3_REGION' | 'S3_BUCKET' | 'S3_ACCESS_KEY_ID' | 'S3_SECRET_ACCESS_KEY',
  string
>;

/** The bucket of a cluster, read directly from the S3 server. */
export class Bucket {
  readonly settings: S3Settings;
  readonly #client: S3Client;
  readonly #isOurs: boolean;

  /** The bucket of the fake S3 server. */
  static of({ endpoint, bucket }: FakeS3): Bucket {
    const secret = 'faults-faults-faults';
    return new Bucket(
      {
        S3_ENDPOINT: endpoint,
        S3_REGION: 'us-east-1',
        S3_BUCKET: bucket,
        S3_ACCESS_KEY_ID: 'faults',
        S3_SECRET_ACCESS_KEY: secret,
      },
      false,
    );
  }

  /** Creates a bucket on the server of S3_TEST_ENDPOINT; undefined when that is not set. */
  static async create(): Promise<Bucket | undefined> {
    const { S3_TEST_ENDPOINT, S3_TEST_REGION, S3_TEST_ACCESS_KEY_ID, S3_TEST_SECRET_ACCESS_KEY } =
      process.env;
    if (!S3_TEST_ENDPOINT) return undefined;
    const bucket = new Bucket(
      {
        S3_ENDPOINT: S3_TEST_ENDPOINT,
        S3_REGION: S3_TEST_REGION ?? 'us-east-1',
        S3_BUCKET: `framelane-${randomUUID()}`,
        S3_ACCESS_KEY_ID: S3_TEST_ACCESS_KEY_ID ?? '',
        S3_SECRET_ACCESS_KEY: S3_TEST_SECRET_ACCESS_KEY ?? '',
      },
      true,
    );
    await bucket.#client.send(new CreateBucketCommand(bucket.#name));
    return bucket;
  }

  private constructor(settings: S3Settings, isOurs: boolean) {
    this.settings = settings;
    this.#isOurs = isOurs;
    this.#client = new S3Client({
      endpoint: settings.S3_ENDPOINT,
      region: settings.S3_REGION,
      forcePathStyle: true,
      credentials: { accessKeyId: settings.S3_ACCESS_KEY_ID, secretAccessKey: settings.S3_SECRET_ACCESS_KEY },
    });
  }

  /** The size of every object by its key. */
  async objects(): Promise<Map<string, number>> {
    const sizes = new Map<string, number>();
    for await (const { Contents = [] } of paginateListObjectsV2({ client: this.#client }, this.#name)) {
      for (const { Key, Size } of Contents) sizes.set(Key as string, Size as number);
    }
    return sizes;
  }

  /** The keys of the first thousand multipart uploads that were neither completed nor aborted. */
  async unfinishedUploads(): Promise<string[]> {
    const { Uploads = [] } = await this.#client.send(new ListMultipartUploadsCommand(this.#name));
    return Uploads.map(({ Key }) => Key as string);
  }

  /** Closes the client. Deletes a bucket that `create` made, with its objects. */
  async remove(): Promise<void> {
    if (this.#isOurs) {
      for (const Key of (await this.objects()).keys()) {
        await this.#client.send(new DeleteObjectCommand({ ...this.#name, Key }));
      }
      await this.#client.send(new DeleteBucketCommand(this.#name));
    }
    this.#client.destroy();
  }

  get #name(): { Bucket: string } {
    return { Bucket: this.settings.S3_BUCKET };
  }
}
