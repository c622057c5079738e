import { createHash } from 'node:crypto';
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';

/**
 * How a page of objects is deleted: one request with the SDK's checksum (CRC32), one request with Content-MD5, which
 * older servers require (aws-sdk-js-v3 issues 6819 and 6920), or one request per object.
 */
const METHODS = ['crc32', 'md5', 'single'] as const;

/** Statuses with which servers refuse an unknown checksum or operation. A 400 can also be temporary. */
const UNSUPPORTED_STATUSES = [400, 405, 411, 501];
/** Error codes of a 400 that show that the method is unsupported. */
const UNSUPPORTED_CODES = ['InvalidRequest', 'MissingContentMD5', 'InvalidDigest', 'NotImplemented'];

/** Concurrent requests of the method `single`. */
const CONCURRENCY = 16;

/** Deletes objects with the first method that the server supports. Later calls begin with that method. */
export class S3Deletions {
  readonly #client: S3Client;
  readonly #bucket: string;
  #method = 0;

  constructor(client: S3Client, bucket: string) {
    this.#client = client;
    this.#bucket = bucket;
  }

  /** Deletes at most 1000 objects. Missing ones are not an error. Throws when an object could not be deleted. */
  async delete(keys: readonly string[]): Promise<void> {
    // A 400 whose code is not one of UNSUPPORTED_CODES may be temporary. Then this call tries the next method, but later calls begin
    // with the same method as before.
    let mayBeTemporary = false;
    for (let index = this.#method; ; index += 1) {
      try {
        await this.#deleteWith(METHODS[index] ?? 'single', keys);
        if (!mayBeTemporary) this.#method = index;
        return;
      } catch (error) {
        if (index >= METHODS.length - 1 || !mayBeUnsupported(error)) throw error;
        mayBeTemporary ||= error.$metadata.httpStatusCode === 400 && !UNSUPPORTED_CODES.includes(error.name);
      }
    }
  }

  async #deleteWith(method: (typeof METHODS)[number], keys: readonly string[]): Promise<void> {
    if (method === 'single') return this.#deleteSingly(keys);
    const Objects = keys.map((Key) => ({ Key }));
    const command = new DeleteObjectsCommand({ Bucket: this.#bucket, Delete: { Objects, Quiet: true } });
    if (method === 'md5') useContentMd5(command);
    const { Errors = [] } = await this.#client.send(command);
    const [first] = Errors;
    if (!first) return;
    throw new Error(
      `${Errors.length} of ${keys.length} objects were not deleted, the first ${first.Key}: ` +
        `${first.Code} ${first.Message ?? ''}`,
    );
  }

  async #deleteSingly(keys: readonly string[]): Promise<void> {
    for (let at = 0; at < keys.length; at += CONCURRENCY) {
      await Promise.all(
        keys
          .slice(at, at + CONCURRENCY)
          .map((Key) => this.#client.send(new DeleteObjectCommand({ Bucket: this.#bucket, Key }))),
      );
    }
  }
}

function mayBeUnsupported(error: unknown): error is S3ServiceException {
  return (
    error instanceof S3ServiceException && UNSUPPORTED_STATUSES.includes(error.$metadata.httpStatusCode ?? 0)
  );
}

/** Replaces the checksum headers with Content-MD5, before the request is signed. */
function useContentMd5(command: DeleteObjectsCommand): void {
  command.middlewareStack.add(
    (next) => async (args) => {
      const request = args.request as { headers: Record<string, string>; body?: string | Uint8Array };
      for (const name of Object.keys(request.headers)) {
        if (/^x-amz-(sdk-)?checksum-/i.test(name)) delete request.headers[name];
      }
      const digest = createHash('md5').update(request.body ?? '');
      request.headers['content-md5'] = digest.digest('base64');
      return next(args);
    },
    // After the SDK's own checksum.
    { step: 'build', priority: 'low', name: 'contentMd5' },
  );
}
