import { useEffect, useSyncExternalStore } from 'react';
import { readVisit, visitAt } from './visit.ts';

const listeners = new Set<() => void>();

const keyOf = (workspaceId: string) => `framelane.visit.${workspaceId}`;

/** Stores when the console shows this workspace, whatever the page. */
export function useRecordedVisits(workspaceId: string): void {
  useEffect(() => {
    const record = (wasShown: boolean) => {
      const key = keyOf(workspaceId);
      const visit = visitAt(readVisit(localStorage.getItem(key)), Date.now(), wasShown);
      localStorage.setItem(key, JSON.stringify(visit));
      for (const listener of listeners) listener();
    };
    // Nothing was shown before, even if the browser opens the tab in the background.
    record(false);
    // Also when the tab is hidden, which is often its end.
    const onChange = () => record(document.visibilityState === 'hidden');
    document.addEventListener('visibilitychange', onChange);
    return () => document.removeEventListener('visibilitychange', onChange);
  }, [workspaceId]);
}

/** The end of the last visit to the workspace, a Unix time in milliseconds; null in the first one. */
export function useLastVisit(workspaceId: string): number | null {
  return useSyncExternalStore(
    subscribe,
    () => readVisit(localStorage.getItem(keyOf(workspaceId)))?.since ?? null,
  );
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
