/** Prometheus itself waits for ten seconds. */
const LIMIT_MS = 3000;

/** As `work`, but rejects when it takes longer than whoever fetches metrics should have to wait. */
export async function inTime<T>(work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`No answer within ${LIMIT_MS} ms`)), LIMIT_MS);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
