import { createHash } from 'node:crypto';

/**
 * The hash of a key that the database stores. A key belongs to one path: its route and parameters, which do not depend on
 * how the URL is escaped.
 */
export function hashKey(
  path: { route: string; params: Readonly<Record<string, string>> },
  key: string,
): Buffer {
  return hash([path.route, path.params, key]);
}

/** The hash of a parsed body: independent of white space and of the order of members. */
export function hashPayload(body: unknown): Buffer {
  return hash(body);
}

/** A file as a part of a body that is hashed. As JSON it would be many times larger. */
export function hashFile(file: Buffer): string {
  return createHash('sha256').update(file).digest('hex');
}

/** Statuses the client can correct and then retry with the same key. */
const NOT_STORED = [400, 401, 403, 429];

/** Whether an error response is stored: only if the state of a resource caused it, not the input or a failure. */
export function isStored(status: number): boolean {
  return status < 500 && !NOT_STORED.includes(status);
}

/** A body without these members. */
export function withoutMembers(
  body: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
}

function hash(value: unknown): Buffer {
  const text = JSON.stringify(value, (_name, member) => inFixedOrder(member)) ?? '';
  return createHash('sha256').update(text).digest();
}

function inFixedOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
