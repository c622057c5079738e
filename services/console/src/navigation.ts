import { paths } from './paths.ts';
import type { Permission, Session } from './sign-in/session.ts';

type Page = { name: string; path: string; needs: Permission | 'administrator' };

/** The pages in the navigation, in order, with what a session needs to open them. */
const PAGES: readonly Page[] = [
  { name: 'Videos', path: paths.videos, needs: 'videos:read' },
  { name: 'Webhooks', path: paths.webhooks, needs: 'webhooks:read' },
  { name: 'Keys', path: paths.keys, needs: 'api_keys:read' },
  { name: 'Usage', path: paths.usage, needs: 'usage:read' },
  { name: 'Sessions', path: paths.sessions, needs: 'api_keys:read' },
  { name: 'Requests', path: paths.requests, needs: 'requests:read' },
  { name: 'Audit', path: paths.audit, needs: 'audit:read' },
  { name: 'System', path: paths.system, needs: 'administrator' },
];

/** The second key of the shortcut of each page: the first letter of its name that no page before it has. */
const KEYS = new Map<string, string>();
for (const { name, path } of PAGES) {
  const taken = new Set(KEYS.values());
  const free = [...name.toLowerCase()].find((letter) => !taken.has(letter));
  if (free !== undefined) KEYS.set(path, free);
}

/** The shortcut of a page, e.g. `g v`. */
export function shortcutOf(path: string): string {
  return `g ${KEYS.get(path)}`;
}

/** The pages that a session can open. */
export function pagesFor({
  administrator,
  permissions,
}: Pick<Session, 'administrator' | 'permissions'>): readonly Page[] {
  return PAGES.filter(({ needs }) =>
    needs === 'administrator' ? administrator : permissions.includes(needs),
  );
}
