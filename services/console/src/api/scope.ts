import type { SessionScope } from '@framelane/client';

const KEY = 'framelane.scope';

let chosen: SessionScope | undefined | null = null;

/** The workspace and environment of this tab. A new tab begins with those of the latest choice. */
export function chosenScope(): SessionScope | undefined {
  if (chosen === null) {
    chosen = readScope(sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY));
    if (chosen !== undefined) setScope(chosen);
  }
  return chosen;
}

/** Makes the session's own default the choice of this tab. A choice that exists stays: it may be newer than the response. */
export function keepDefaultScope(scope: SessionScope): void {
  if (chosenScope() === undefined) setScope(scope);
}

/** Sets what this tab and new tabs use. */
export function chooseScope(scope: SessionScope): void {
  setScope(scope);
  localStorage.setItem(KEY, JSON.stringify(scope));
}

/** Sets what this tab uses, also after a reload. */
function setScope(scope: SessionScope): void {
  chosen = scope;
  sessionStorage.setItem(KEY, JSON.stringify(scope));
}

/** Forgets the choice, so that the session's own default applies. */
export function forgetScope(): void {
  chosen = undefined;
  sessionStorage.removeItem(KEY);
  localStorage.removeItem(KEY);
}

/** A stored choice; undefined if it is missing or invalid. */
export function readScope(stored: string | null): SessionScope | undefined {
  if (stored === null) return undefined;
  try {
    const { workspaceId, environment } = JSON.parse(stored);
    const isWorkspace = typeof workspaceId === 'string' && /^\w+$/.test(workspaceId);
    return isWorkspace && (environment === 'live' || environment === 'test')
      ? { workspaceId, environment }
      : undefined;
  } catch {
    return undefined;
  }
}
