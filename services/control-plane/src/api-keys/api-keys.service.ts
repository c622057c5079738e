import { newId } from '@framelane/contracts/ids';
import type { ProblemCode } from '@framelane/contracts/problem-codes';
import type { Logger } from '@framelane/service-kit/logger';
import { invalidField, Problem } from '@framelane/service-kit/problem';
import type { Credential, VerifiedKey } from '../auth/authentication.ts';
import { LastUse } from '../auth/last-use.ts';
import { RequestCoalescing } from '../auth/request-coalescing.ts';
import { requireToEnd, requireToGrant, rightsOf } from '../auth/rights.ts';
import type { Commit, Database } from '../db/database.ts';
import { type Page, type PageRequest, toPage } from '../db/keyset-page.ts';
import type { Environment, Permission } from '../db/schema.ts';
import { type ApiKeyRecord, statusOf, toApiKeyRecord } from './api-key-record.ts';
import { describeSecret, newApiKeySecret } from './api-key-secret.ts';
import {
  type FoundKey,
  findKeyByHash,
  hasKeyWith,
  insertKey,
  listKeys,
  revokeKey,
  serializeRevocations,
  touchKey,
  type UsedKey,
} from './api-keys.store.ts';
import { PERMISSIONS } from './permissions.ts';

/** Years of RFC 3339 have four digits. A time with an offset can be later than this in UTC. */
const LATEST = new Date('9999-12-31T23:59:59.999Z');

/** The properties of a new key. */
export type NewApiKey = {
  workspaceId: string;
  name: string;
  environment: Environment;
  permissions: readonly Permission[];
  /** The key that creates it; null for a console session or an administrator without a key. */
  createdBy: string | null;
  expiresAt: Date | null;
};

/** The properties a client requests for a new key. Undefined ones are copied from the caller. */
export type ApiKeyRequest = {
  name: string;
  environment: Environment | undefined;
  permissions: readonly Permission[] | undefined;
  expiresAt: Date | null | undefined;
};

/** A new key with its secret, which is never shown again. */
export type CreatedApiKey = ApiKeyRecord & { secret: string };

/** Verifies, creates, lists and revokes API keys. */
export class ApiKeysService {
  readonly #db: Database;
  readonly #logger: Logger;
  readonly #lastUse: LastUse;
  readonly #queries = new RequestCoalescing<UsedKey | undefined>();

  constructor({ db, logger }: { db: Database; logger: Logger }) {
    this.#db = db;
    this.#logger = logger;
    this.#lastUse = new LastUse((id) => touchKey(db, id), logger);
  }

  /**
   * Resolves with the key of a secret, or throws a 401 Problem with the reason. Each result comes from a query that began after
   * the call. No instance caches keys, so a revocation is effective at once.
   */
  async verify(secret: string): Promise<VerifiedKey> {
    const described = describeSecret(secret);
    const key = described === null ? undefined : await this.#lookUp(described.hash);
    if (key === undefined) throw unauthorized('invalid_api_key', 'This API key does not exist.');
    const status = statusOf(key);
    if (status === 'revoked') throw unauthorized('revoked_api_key', 'This API key has been revoked.');
    if (status === 'expired') throw unauthorized('expired_api_key', 'This API key has expired.');
    this.#lastUse.record(key);
    return key;
  }

  #lookUp(hash: Buffer): Promise<UsedKey | undefined> {
    return this.#queries.get(hash.toString('base64'), () => findKeyByHash(this.#db, hash));
  }

  /**
   * Prepares a key in the caller's workspace. Throws 403 `permission_escalation` when the new key would have rights that the caller
   * lacks, or expire later than the calling key; the expiry of a session is no limit. Throws 403 `environment_mismatch` when a session
   * would create a key of an environment that it does not have.
   */
  async createAs(caller: Credential, request: ApiKeyRequest): Promise<Commit<CreatedApiKey>> {
    const permissions = request.permissions ?? caller.permissions;
    const environment = request.environment ?? caller.environment;
    if (caller.kind === 'session' && !caller.environments.includes(environment)) {
      throw new Problem('environment_mismatch', `This session cannot create keys for ${environment}.`);
    }
    requireToGrant(caller, rightsOf({ workspace_id: caller.workspace_id, environment, permissions }));
    const limit = caller.kind === 'key' ? caller.expires_at : null;
    const expiresAt = request.expiresAt === undefined ? limit : request.expiresAt;
    if (!isUntil(expiresAt, limit)) {
      throw new Problem(
        'permission_escalation',
        `A key cannot create a key that expires later. This one expires at ${limit?.toISOString()}.`,
      );
    }
    return prepareKey({
      workspaceId: caller.workspace_id,
      name: request.name,
      environment,
      permissions,
      createdBy: caller.kind === 'key' ? caller.id : null,
      expiresAt,
    });
  }

  /** Creates a key. Throws 400 `validation_failed` when `expiresAt` is in the past or after the year 9999. */
  async create(key: NewApiKey): Promise<CreatedApiKey> {
    const created = await this.#db.transaction().execute(prepareKey(key));
    this.logCreated(created, key.workspaceId);
    return created;
  }

  /** Logs a new key; call it after the commit. */
  logCreated({ id, createdBy, permissions }: CreatedApiKey, workspaceId: string): void {
    this.#logger.info('api_key.created', { keyId: id, workspaceId, createdBy, permissions });
  }

  /** One page of the workspace's keys, newest first, including revoked and expired ones. */
  async list(workspaceId: string, page: PageRequest): Promise<Page<ApiKeyRecord>> {
    const rows = await listKeys(this.#db, workspaceId, page);
    return toPage(rows, page.limit, toApiKeyRecord);
  }

  /**
   * Revokes a key of the caller's workspace. A request that arrives after this resolves cannot use the key. Throws 404
   * `api_key_not_found`, 403 `insufficient_permissions` when the key has rights that the caller lacks, and 409 `last_admin_key` when no
   * other key with the same or a later expiry has its administrative permissions.
   */
  async revokeAs(caller: Credential, keyId: string): Promise<void> {
    const workspaceId = caller.workspace_id;
    await this.#db.transaction().execute(async (trx) => {
      // Without the lock, two keys that revoke each other concurrently would each count the other as the remaining one.
      await serializeRevocations(trx, workspaceId);
      const key = await revokeKey(trx, keyId, workspaceId);
      if (key === undefined) throw keyNotFound(`There is no unrevoked key ${keyId} in this workspace.`);
      requireToEnd(caller, [rightsOf(key)], 'revoke only keys');
      const needed = administrativePermissions(key);
      if (needed.length > 0 && !(await hasKeyWith(trx, workspaceId, needed, key.expires_at))) {
        const missing = needed.length === 1 ? `the permission ${needed[0]}` : 'every permission';
        throw new Problem(
          'last_admin_key',
          `No other active key with the same or a later expiry has ${missing}. Create one first.`,
        );
      }
    });
    this.#logger.info('api_key.revoked', { keyId, workspaceId, revokedBy: caller.id });
  }

  /** Revokes a key of any workspace, even its last one. For administrators, who can create keys without a key. */
  async revokeAny(keyId: string): Promise<void> {
    const key = await revokeKey(this.#db, keyId);
    if (key === undefined) throw keyNotFound(`There is no key ${keyId} to revoke.`);
    this.#logger.info('api_key.revoked', { keyId, workspaceId: key.workspace_id });
  }
}

/** Creates a key with the given secret and every permission, unless a key has this secret already. */
export async function createFullKey(
  db: Database,
  { workspaceId, name, secret }: { workspaceId: string; name: string; secret: string },
): Promise<void> {
  await storeKey(db, {
    workspaceId,
    name,
    secret,
    permissions: PERMISSIONS,
    createdBy: null,
    expiresAt: null,
  });
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

/** The prepared creation of a key. This or its commit throws 400 `validation_failed` when `expiresAt` is out of range. */
function prepareKey(key: NewApiKey): Commit<CreatedApiKey> {
  if (key.expiresAt !== null && key.expiresAt > LATEST) throw expiryOutOfRange();
  const secret = newApiKeySecret(key.environment);
  return async (trx) => {
    const row = await storeKey(trx, { ...key, secret });
    if (row === undefined) throw new Error('The generated secret exists already');
    if (row.is_expired) throw expiryOutOfRange();
    return { ...toApiKeyRecord(row), secret };
  };
}

/** Whether a time is at or before the limit; null means never. */
function isUntil(time: Date | null, limit: Date | null): boolean {
  return limit === null || (time !== null && time <= limit);
}

/** The permissions that another key must have before this one can be revoked; none when this one has expired. */
function administrativePermissions(key: FoundKey): readonly Permission[] {
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
