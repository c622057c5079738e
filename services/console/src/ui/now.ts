import { useSyncExternalStore } from 'react';

const STEP_MS = 30_000;

/** The present time, a Unix time in milliseconds, in steps of half a minute: ages on a page stay right while its data do not change. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => Math.floor(Date.now() / STEP_MS) * STEP_MS);
}

function subscribe(listener: () => void): () => void {
  const timer = setInterval(listener, STEP_MS);
  return () => clearInterval(timer);
}
