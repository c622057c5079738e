import { createHash } from 'node:crypto';

/** What is known of a key that was used before. */
export type KnownKey = { payload_hash: Buffer; status: number | null };

/** What becomes of a request whose key was used before. */
export type Verdict = 'reused' | 'in_use' | 'answered';

/**
 * What stands for a key in the database: good for one path, told by its route and the parameters in it, so that it does
 * not matter how they are escaped.
 */
export function hashKey(
  path: { route: string; params: Readonly<Record<string, string>> },
  key: string,
): Buffer {
  return hash([path.route, path.params, key]);
}

/** What stands for the body of a request; the order of members does not matter, nor do spaces. */
export function hashPayload(body: unknown): Buffer {
  return hash(body);
}

/** Judges a key that was used before by the request that brings it again. */
export function judge(known: KnownKey, payloadHash: Buffer): Verdict {
  if (!known.payload_hash.equals(payloadHash)) return 'reused';
  return known.status === null ? 'in_use' : 'answered';
}

/**
 * Whether a refusal is kept as the answer. It is when it says how things were, as an outcome does. What is wrong with the
 * request or with who sends it (400, 401, 403) can be put right and is asked again, and so is what failed on our side.
 */
export function isKept(status: number): boolean {
  return status >= 404 && status < 500;
}

/** A body without the members that are told once only. */
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
