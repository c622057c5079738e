import { newId } from '@framelane/contracts/ids';
import type { ClaimedWatermark } from '@framelane/contracts/watermark';
import type { components } from '@framelane/openapi/types';
import { invalidField, Problem } from '@framelane/service-kit/problem';
import type { Commit, Database } from '../db/database.ts';
import type { VideoRow } from '../db/schema.ts';
import type { QuotasService } from '../quotas/quotas.service.ts';
import { readWatermark } from './watermark-image.ts';
import {
  countStored,
  findImage,
  findOwnImage,
  findWatermark,
  holdWatermark,
  insertWatermark,
  listWatermarks,
  lockWatermarksOf,
  markDeleted,
  removeUnneeded,
  type WatermarkFacts,
} from './watermarks.store.ts';

/** The public record of an image. */
export type WatermarkRecord = components['schemas']['Watermark'];

/** The most images of a workspace. */
const MAX_WATERMARKS = 50;

/** Stores the images of watermarks. */
export class WatermarksService {
  readonly #db: Database;
  readonly #quotas: QuotasService;

  constructor({ db, quotas }: { db: Database; quotas: QuotasService }) {
    this.#db = db;
    this.#quotas = quotas;
  }

  /** Stores an image. Throws 400 `invalid_watermark`, 403 `quota_exceeded` and 409 `watermark_limit_reached`. */
  create(workspaceId: string, name: string | null, sent: Buffer): Commit<WatermarkRecord> {
    const read = readWatermark(sent);
    return async (trx) => {
      await lockWatermarksOf(trx, workspaceId);
      if ((await countStored(trx, workspaceId)) >= MAX_WATERMARKS) throw limitReached();
      await this.#quotas.requireBytes(trx, workspaceId, read.image.length);
      return toRecord(await insertWatermark(trx, { ...read, id: newId('wmk'), workspaceId, name }));
    };
  }

  /** All images of a workspace, newest first. */
  async list(workspaceId: string): Promise<WatermarkRecord[]> {
    return (await listWatermarks(this.#db, workspaceId)).map(toRecord);
  }

  /** Throws 404 `watermark_not_found`. */
  async get(workspaceId: string, id: string): Promise<WatermarkRecord> {
    const found = await findWatermark(this.#db, workspaceId, id);
    if (found === undefined) throw notFound(id);
    return toRecord(found);
  }

  /** The file of an image. Throws 404 `watermark_not_found`. */
  async image(
    workspaceId: string,
    id: string,
  ): Promise<Pick<WatermarkRecord, 'contentType'> & { image: Buffer }> {
    const found = await findOwnImage(this.#db, workspaceId, id);
    if (found === undefined) throw notFound(id);
    return { contentType: contentTypeOf(found), image: found.image };
  }

  /** Deletes an image for new videos; those that have it keep it. Throws 404 `watermark_not_found`. */
  async delete(workspaceId: string, id: string): Promise<void> {
    // Only changes in a transaction are in the audit log.
    const isDeleted = await this.#db.transaction().execute((trx) => markDeleted(trx, workspaceId, id));
    if (!isDeleted) throw notFound(id);
  }

  /** Removes deleted images that no video needs any more. Safe on several instances. */
  async prune(): Promise<void> {
    await removeUnneeded(this.#db);
  }
}

/** Throws 400 `validation_failed` unless the workspace has the image. It is not deleted before the transaction ends. */
export async function requireWatermark(trx: Database, workspaceId: string, id: string): Promise<void> {
  if (await holdWatermark(trx, workspaceId, id)) return;
  throw invalidField(
    'body/watermark/image',
    'watermark',
    'is no watermark image of this workspace. POST /watermarks uploads one',
  );
}

/** The watermark of a video that is not ready, for an engine. */
export async function watermarkFor(
  db: Database,
  { id, watermark }: Pick<VideoRow, 'id' | 'watermark'>,
): Promise<ClaimedWatermark | undefined> {
  if (watermark === null) return undefined;
  const { image: imageId, ...settings } = watermark;
  const found = await findImage(db, imageId);
  if (found === undefined) throw new Error(`The watermark ${imageId} of ${id} is missing`);
  return { ...settings, format: found.format, image: found.image.toString('base64') };
}

function toRecord({ created_at: createdAt, format, ...facts }: WatermarkFacts): WatermarkRecord {
  return { ...facts, contentType: contentTypeOf({ format }), createdAt: createdAt.toISOString() };
}

function contentTypeOf({ format }: Pick<WatermarkFacts, 'format'>): WatermarkRecord['contentType'] {
  return `image/${format}`;
}

function notFound(id: string): Problem {
  return new Problem('watermark_not_found', `There is no watermark image ${id} in this workspace.`);
}

function limitReached(): Problem {
  return new Problem(
    'watermark_limit_reached',
    `A workspace can have ${MAX_WATERMARKS} watermark images, deleted ones included that videos still need. Delete one that no unfinished video has.`,
  );
}
