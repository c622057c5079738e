import { useEffect, useSyncExternalStore } from 'react';
import { readVisit, visitAt } from './visit.ts';

const listeners = new Set<() => void>();

const keyOf = (workspaceId: string) => `framelane.visit.${workspaceId}`;

/** Stores when the console shows this workspace, whatever the page. */
export function useRecordedVisits(workspaceId: string): void {
  useEffect(() => {
    const record = () => {
      const key = keyOf(workspaceId);
      const wasShown = document.visibilityState === 'hidden';
      const visit = visitAt(readVisit(localStorage.getItem(key)), Date.now(), wasShown);
      localStorage.setItem(key, JSON.stringify(visit));
      for (const listener of listeners) listener();
    };
    record();
    // Also when the tab is hidden, which is often its end.
    document.addEventListener('visibilitychange', record);
    return () => document.removeEventListener('visibilitychange', record);
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
