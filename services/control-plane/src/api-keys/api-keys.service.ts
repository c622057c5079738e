import { newId } from '@framelane/contracts/ids';
import type { ProblemCode } from '@framelane/contracts/problem-codes';
import type { Logger } from '@framelane/service-kit/logger';
import { invalidField, Problem } from '@framelane/service-kit/problem';
import type { VerifiedKey } from '../auth/authentication.ts';
import type { Commit, Database } from '../db/database.ts';
import { type Page, type Position, toPage } from '../db/keyset-page.ts';
import type { ApiKeyRow, Environment, Permission } from '../db/schema.ts';
import { type ApiKeyRecord, statusOf, toApiKeyRecord } from './api-key-record.ts';
import { describeSecret, newApiKeySecret } from './api-key-secret.ts';
import {
  type FoundKey,
  findKeyByHash,
  hasKeyWith,
  insertKey,
  listKeys,
  lockKeysOf,
  revokeKey,
  type UsedKey,
} from './api-keys.store.ts';
import { LastUse } from './last-use.ts';
import { PERMISSIONS } from './permissions.ts';
import { RequestCoalescing } from './request-coalescing.ts';

/** RFC 3339 has years of four digits; an offset can lead beyond them. */
const LATEST = new Date('9999-12-31T23:59:59.999Z');

/** What a new key is to be. */
export type NewApiKey = {
  workspaceId: string;
  name: string;
  environment: Environment;
  permissions: readonly Permission[];
  /** The key that creates it; null for an administrator without a key. */
  createdBy: string | null;
  expiresAt: Date | null;
};

/** What a client asks of a new key; the caller's own where undefined. */
export type ApiKeyRequest = {
  name: string;
  environment: Environment | undefined;
  permissions: readonly Permission[] | undefined;
  expiresAt: Date | null | undefined;
};

/** A new key with its secret, which is known only now. */
export type CreatedApiKey = ApiKeyRecord & { secret: string };

/** Checks, makes, lists and revokes the keys of workspaces. */
export class ApiKeysService {
  readonly #db: Database;
  readonly #logger: Logger;
  readonly #lastUse: LastUse;
  readonly #lookups = new RequestCoalescing<UsedKey | undefined>();

  constructor({ db, logger }: { db: Database; logger: Logger }) {
    this.#db = db;
    this.#logger = logger;
    this.#lastUse = new LastUse(db, logger);
  }

  /**
   * Finds the living key behind a secret, or throws the 401 Problem that says why there is none. It is looked up after the
   * call each time: nothing remembers a key past its revocation, on any instance.
   */
  async verify(secret: string): Promise<VerifiedKey> {
    const described = describeSecret(secret);
    const key = described === null ? undefined : await this.#lookUp(described.hash);
    if (key === undefined) throw unauthorized('invalid_api_key', 'This API key does not exist.');
    const status = statusOf(key);
    if (status === 'revoked') throw unauthorized('revoked_api_key', 'This API key has been revoked.');
    if (status === 'expired') throw unauthorized('expired_api_key', 'This API key has expired.');
    this.#lastUse.note(key);
    return key;
  }

  #lookUp(hash: Buffer): Promise<UsedKey | undefined> {
    return this.#lookups.get(hash.toString('base64'), () => findKeyByHash(this.#db, hash));
  }

  /**
   * Makes a key in the caller's workspace. Throws 403 `permission_escalation` when it would have a permission the
   * caller lacks, or expire later than the caller. The environment is a label that opens nothing, so a caller of either kind may make both.
   */
  async createAs(caller: VerifiedKey, request: ApiKeyRequest): Promise<Commit<CreatedApiKey>> {
    const permissions = request.permissions ?? caller.permissions;
    const excess = permissions.filter((permission) => !caller.permissions.includes(permission));
    if (excess.length > 0) {
      throw new Problem(
        'permission_escalation',
        `A key can grant only permissions that it has. This one lacks ${excess.join(', ')}.`,
      );
    }
    const expiresAt = request.expiresAt === undefined ? caller.expires_at : request.expiresAt;
    if (!lastsAsLong(caller, expiresAt)) {
      throw new Problem(
        'permission_escalation',
        `A key cannot create one that expires later than itself. This one expires at ${caller.expires_at?.toISOString()}.`,
      );
    }
    return prepareKey({
      workspaceId: caller.workspace_id,
      name: request.name,
      environment: request.environment ?? caller.environment,
      permissions,
      createdBy: caller.id,
      expiresAt,
    });
  }

  /** Creates a key. Throws 400 `validation_failed` when it has expired already, or expires after the year 9999. */
  async create(key: NewApiKey): Promise<CreatedApiKey> {
    const created = await this.#db.transaction().execute(prepareKey(key));
    this.logCreated(created, key.workspaceId);
    return created;
  }

  /** Logs a key once it is committed. */
  logCreated({ id, createdBy, permissions }: CreatedApiKey, workspaceId: string): void {
    this.#logger.info('api_key.created', { keyId: id, workspaceId, createdBy, permissions });
  }

  /** One page of the workspace's keys, newest first, revoked and expired ones among them. */
  async list(
    workspaceId: string,
    page: { after: Position | undefined; limit: number },
  ): Promise<Page<ApiKeyRecord>> {
    const rows = await listKeys(this.#db, workspaceId, { ...page, limit: page.limit + 1 });
    return toPage(rows, page.limit, toApiKeyRecord);
  }

  /**
   * Revokes a key of the caller's workspace: no request that comes in after this resolved is served with it. Throws 404
   * `api_key_not_found`, 403 `insufficient_permissions` when the key has a permission the caller lacks, and 409
   * `last_admin_key` when no other key of the workspace that works as long could do as much.
   */
  async revokeAs(caller: VerifiedKey, keyId: string): Promise<void> {
    const workspaceId = caller.workspace_id;
    await this.#db.transaction().execute(async (trx) => {
      // Two at once could otherwise each take the other's key for the one that stays.
      await lockKeysOf(trx, workspaceId);
      const key = await revokeKey(trx, keyId, workspaceId);
      if (key === undefined) throw keyNotFound(`There is no unrevoked key ${keyId} in this workspace.`);
      const excess = key.permissions.filter((permission) => !caller.permissions.includes(permission));
      if (excess.length > 0) {
        throw new Problem(
          'insufficient_permissions',
          `A key can revoke only keys whose permissions it has. This one lacks ${excess.join(', ')}.`,
        );
      }
      const kept = permissionsToKeep(key);
      if (kept.length > 0 && !(await hasKeyWith(trx, workspaceId, kept, key.expires_at))) {
        const held = kept.length === 1 ? `the permission ${kept[0]}` : 'every permission';
        throw new Problem(
          'last_admin_key',
          `No other active key with the same or a later expiry has ${held}. Create one first.`,
        );
      }
    });
    this.#logger.info('api_key.revoked', { keyId, workspaceId, revokedBy: caller.id });
  }

  /** Revokes a key of any workspace, its last one too: for those who can make keys without a key. */
  async revokeAny(keyId: string): Promise<void> {
    const key = await revokeKey(this.#db, keyId);
    if (key === undefined) throw keyNotFound(`There is no key ${keyId} to revoke.`);
    this.#logger.info('api_key.revoked', { keyId, workspaceId: key.workspace_id });
  }
}

/** Makes a key of a given secret, with every permission. Resolves with false when there is a key with it already. */
export async function createFullKey(
  db: Database,
  { workspaceId, name, secret }: { workspaceId: string; name: string; secret: string },
): Promise<boolean> {
  const row = await storeKey(db, {
    workspaceId,
    name,
    secret,
    permissions: PERMISSIONS,
    createdBy: null,
    expiresAt: null,
  });
  return row !== undefined;
}

async function storeKey(
  db: Database,
  key: Omit<NewApiKey, 'environment'> & { secret: string },
): Promise<FoundKey | undefined> {
  const described = describeSecret(key.secret);
  if (described === null) {
    throw new Error('An API key is svc_live_ or svc_test_ followed by at least 16 letters and digits');
  }
  return insertKey(db, { ...key, ...described, id: newId('key') });
}

/** Throws 400 `validation_failed` when the key has expired already, or expires after the year 9999; so does its commit. */
function prepareKey(key: NewApiKey): Commit<CreatedApiKey> {
  if (key.expiresAt !== null && key.expiresAt > LATEST) throw expiryOutOfRange();
  const secret = newApiKeySecret(key.environment);
  return async (trx) => {
    const row = await storeKey(trx, { ...key, secret });
    if (row === undefined) throw new Error('A new secret is in use already');
    if (row.is_expired) throw expiryOutOfRange();
    return { ...toApiKeyRecord(row), secret };
  };
}

/** Whether a key works at least until then; null: for ever. */
function lastsAsLong(key: Pick<ApiKeyRow, 'expires_at'>, until: Date | null): boolean {
  return key.expires_at === null || (until !== null && until <= key.expires_at);
}

/** What another key of the workspace has to be able to do before this one is revoked: nothing when it has expired. */
function permissionsToKeep(key: FoundKey): readonly Permission[] {
  if (key.is_expired) return [];
  if (PERMISSIONS.every((permission) => key.permissions.includes(permission))) return PERMISSIONS;
  return key.permissions.includes('api_keys:write') ? ['api_keys:write'] : [];
}

function expiryOutOfRange(): Problem {
  return invalidField('body/expiresAt', 'out_of_range', 'must be in the future and before the year 10000');
}

function keyNotFound(detail: string): Problem {
  return new Problem('api_key_not_found', detail);
}

function unauthorized(code: ProblemCode, detail: string): Problem {
  return new Problem(code, detail, { headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' } });
}
