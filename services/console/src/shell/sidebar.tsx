import type { UseMutationResult } from '@tanstack/react-query';
import BookOpen from 'lucide-react/icons/book-open';
import Search from 'lucide-react/icons/search';
import { COMMAND_KEY } from '../palette/palette-key.ts';
import { DOCS_URL } from '../paths.ts';
import { Account } from './account.tsx';
import { PageLinks } from './page-links.tsx';
import { ScopeSwitch } from './scope-switch.tsx';

/** What the sidebar can do besides opening pages. */
export type SidebarActions = {
  openPalette: () => void;
  openShortcuts: () => void;
  leaving: UseMutationResult<void, Error, void>;
};

/** The workspace, the pages and the account. */
export function Sidebar({ openPalette, openShortcuts, leaving }: SidebarActions) {
  return (
    <>
      <ScopeSwitch />
      <button type="button" className="side-item palette-button" onClick={openPalette}>
        <Search />
        Find
        <kbd>{COMMAND_KEY} K</kbd>
      </button>
      <PageLinks />
      <div className="sidebar-end">
        <a className="side-item" href={DOCS_URL} target="_blank" rel="noopener">
          <BookOpen />
          Documentation
        </a>
        <Account openShortcuts={openShortcuts} leaving={leaving} />
      </div>
    </>
  );
}
