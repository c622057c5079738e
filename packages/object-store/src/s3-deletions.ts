import { createHash } from 'node:crypto';
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';

/**
 * How the objects of a page are deleted: in one request with the checksum that the SDK makes (CRC32), in one with
 * Content-MD5, which older servers demand (aws-sdk-js-v3 issues 6819 and 6920), or in a request each.
 */
const WAYS = ['crc32', 'md5', 'single'] as const;

/** What servers refuse a request with whose checksum or kind they do not know; 400 may have a reason that passes, too. */
const UNKNOWN_STATUSES = [400, 405, 411, 501];
/** The codes that come with 400 when it has not. */
const UNKNOWN_CODES = ['InvalidRequest', 'MissingContentMD5', 'InvalidDigest', 'NotImplemented'];

const AT_ONCE = 16;

/** Deletes objects in the first way that the server takes, and remembers those that it does not know. */
export class S3Deletions {
  readonly #client: S3Client;
  readonly #bucket: string;
  #way = 0;

  constructor(client: S3Client, bucket: string) {
    this.#client = client;
    this.#bucket = bucket;
  }

  /** Deletes at most 1000 objects; missing ones are no error. Throws when some could not be deleted. */
  async delete(keys: readonly string[]): Promise<void> {
    let mayPass = false;
    for (let way = this.#way; ; way += 1) {
      try {
        await this.#deleteIn(WAYS[way] ?? 'single', keys);
        if (!mayPass) this.#way = way;
        return;
      } catch (error) {
        if (way >= WAYS.length - 1 || !isUnknown(error)) throw error;
        mayPass ||= error.$metadata.httpStatusCode === 400 && !UNKNOWN_CODES.includes(error.name);
      }
    }
  }

  async #deleteIn(way: (typeof WAYS)[number], keys: readonly string[]): Promise<void> {
    if (way === 'single') return this.#deleteSingly(keys);
    const Objects = keys.map((Key) => ({ Key }));
    const command = new DeleteObjectsCommand({ Bucket: this.#bucket, Delete: { Objects, Quiet: true } });
    if (way === 'md5') useContentMd5(command);
    const { Errors = [] } = await this.#client.send(command);
    const [first] = Errors;
    if (!first) return;
    throw new Error(
      `${Errors.length} of ${keys.length} objects were not deleted, the first ${first.Key}: ` +
        `${first.Code} ${first.Message ?? ''}`,
    );
  }

  async #deleteSingly(keys: readonly string[]): Promise<void> {
    for (let at = 0; at < keys.length; at += AT_ONCE) {
      await Promise.all(
        keys
          .slice(at, at + AT_ONCE)
          .map((Key) => this.#client.send(new DeleteObjectCommand({ Bucket: this.#bucket, Key }))),
      );
    }
  }
}

function isUnknown(error: unknown): error is S3ServiceException {
  return (
    error instanceof S3ServiceException && UNKNOWN_STATUSES.includes(error.$metadata.httpStatusCode ?? 0)
  );
}

/** Puts Content-MD5 in the place of the checksum headers, before the request is signed. */
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
