import { createHash } from 'node:crypto';

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

/** What is wrong with a request, with who sends it, or with when: put right, it may be sent again under the same key. */
const NOT_KEPT = [400, 401, 403, 429];

/** Whether a refusal is kept as the answer: it is when it says how things were. What failed on our side is not. */
export function isKept(status: number): boolean {
  return status < 500 && !NOT_KEPT.includes(status);
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
