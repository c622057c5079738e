import Activity from 'lucide-react/icons/activity';
import ChartLine from 'lucide-react/icons/chart-line';
import ChartNoAxesColumn from 'lucide-react/icons/chart-no-axes-column';
import Clapperboard from 'lucide-react/icons/clapperboard';
import History from 'lucide-react/icons/history';
import House from 'lucide-react/icons/house';
import KeyRound from 'lucide-react/icons/key-round';
import ScrollText from 'lucide-react/icons/scroll-text';
import Users from 'lucide-react/icons/users';
import Webhook from 'lucide-react/icons/webhook';
import { paths } from './paths.ts';
import type { Permission, Session } from './sign-in/session.ts';
import type { Icon } from './ui/icon.ts';

export type Page = {
  name: string;
  path: string;
  needs: Permission | 'administrator';
  Icon: Icon;
  /** Other words by which the command palette finds it. */
  keywords: string;
  /** The page of the documentation about it, below `/docs/`. */
  guide: string;
};

/** The pages in the navigation, in order, with what a session needs to open them. */
const PAGES: readonly Page[] = [
  {
    name: 'Home',
    path: paths.home,
    needs: 'videos:read',
    Icon: House,
    guide: 'console#home',
    keywords: 'overview dashboard',
  },
  {
    name: 'Videos',
    path: paths.videos,
    needs: 'videos:read',
    Icon: Clapperboard,
    guide: 'console#pages',
    keywords: 'share embed captions packaging watermark settings',
  },
  {
    name: 'Analytics',
    path: paths.analytics,
    needs: 'analytics:read',
    Icon: ChartLine,
    guide: 'analytics',
    keywords: 'views viewers statistics',
  },
  {
    name: 'Webhooks',
    path: paths.webhooks,
    needs: 'webhooks:read',
    Icon: Webhook,
    guide: 'webhooks',
    keywords: 'events endpoints settings',
  },
  {
    name: 'Keys',
    path: paths.keys,
    needs: 'api_keys:read',
    Icon: KeyRound,
    guide: 'keys-and-permissions',
    keywords: 'api keys tokens secrets credentials permissions settings',
  },
  {
    name: 'Usage',
    path: paths.usage,
    needs: 'usage:read',
    Icon: ChartNoAxesColumn,
    guide: 'usage',
    keywords: 'limits quotas storage minutes bandwidth billing',
  },
  {
    name: 'Sessions',
    path: paths.sessions,
    needs: 'api_keys:read',
    Icon: Users,
    guide: 'console#sessions',
    keywords: 'users people persons team account',
  },
  {
    name: 'Requests',
    path: paths.requests,
    needs: 'requests:read',
    Icon: ScrollText,
    guide: 'requests',
    keywords: 'logs history errors api',
  },
  {
    name: 'Audit',
    path: paths.audit,
    needs: 'audit:read',
    Icon: History,
    guide: 'audit',
    keywords: 'logs history changes',
  },
  {
    name: 'System',
    path: paths.system,
    needs: 'administrator',
    Icon: Activity,
    guide: 'monitoring',
    keywords: 'engines health status backups versions',
  },
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

/** Whether a path is that of a page, or of one video or webhook below it. */
export function isBelow(path: string, page: string): boolean {
  return path === page || path.startsWith(`${page}/`);
}

/** The page of the navigation to which a path belongs. */
export function pageAt(path: string): Page | undefined {
  return PAGES.find((page) => isBelow(path, page.path));
}
