/** Rejects with the first error that no code handles. A service would crash. */
export function unhandledFailure(): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  process.on('unhandledRejection', reject);
  process.on('uncaughtException', reject);
  return promise;
}
