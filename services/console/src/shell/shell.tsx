import { Modal } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import Menu from 'lucide-react/icons/menu';
import Search from 'lucide-react/icons/search';
import { type ReactNode, useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { useRecordedVisits } from '../home/last-visit.ts';
import { type Page, pagesFor, shortcutOf } from '../navigation.ts';
import { Palette } from '../palette/palette.tsx';
import { opensPalette } from '../palette/palette-key.ts';
import { useSession } from '../sign-in/session.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { listenToShortcuts, useShortcut } from '../ui/shortcuts.ts';
import { ShortcutsHelp } from '../ui/shortcuts-help.tsx';
import { UploadsPanel } from '../uploads/uploads-panel.tsx';
import { EnvironmentBadge } from './environment-badge.tsx';
import { Sidebar } from './sidebar.tsx';
import { signOut } from './sign-out.ts';

/** Where the sidebar is not beside the page, as in shell.css. */
const NARROW = '(max-width: 48rem)';

type Overlay = 'menu' | 'palette' | 'shortcuts';

/** The frame of every page: the sidebar, or on a narrow screen a line with a menu; the palette, the shortcuts and the uploads. */
export function Shell({ children }: { children: ReactNode }) {
  const session = useSession();
  const leaving = useMutation({ mutationFn: signOut });
  const [overlay, setOverlay] = useState<Overlay>();
  const [path] = useLocation();
  const isNarrow = useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false });
  const close = () => setOverlay(undefined);
  useEffect(refuseDroppedFiles, []);
  useEffect(listenToShortcuts, []);
  useRecordedVisits(session.workspace.id);
  useShortcut('?', 'Show this help', () => setOverlay('shortcuts'));
  usePaletteKey(overlay === 'palette', () => setOverlay(overlay === 'palette' ? undefined : 'palette'));
  useEffect(() => setOverlay((open) => (open === 'menu' ? undefined : open)), [path]);
  const sidebar = (
    <Sidebar
      openPalette={() => setOverlay('palette')}
      openShortcuts={() => setOverlay('shortcuts')}
      leaving={leaving}
    />
  );
  return (
    <>
      <a className="skip" href="#content">
        Skip to the content
      </a>
      {pagesFor(session).map((page) => (
        <PageShortcut key={page.path} page={page} />
      ))}
      <div className="shell">
        {isNarrow ? (
          <header className="top-line">
            <IconButton label="Menu" Icon={Menu} onClick={() => setOverlay('menu')} />
            <span className="workspace">{session.workspace.name}</span>
            <EnvironmentBadge environment={session.environment} />
            <IconButton label="Find" Icon={Search} onClick={() => setOverlay('palette')} />
          </header>
        ) : (
          <aside className="sidebar" aria-label="Workspace and pages">
            {sidebar}
          </aside>
        )}
        <main id="content" tabIndex={-1} className="content">
          {leaving.error && <ErrorAlert error={leaving.error} />}
          {children}
        </main>
      </div>
      <Modal
        opened={overlay === 'menu'}
        onClose={close}
        withCloseButton={false}
        attributes={{ content: { 'aria-label': 'Menu' } }}
        padding={0}
        transitionProps={{ transition: 'slide-right' }}
        classNames={{ inner: 'drawer-inner', content: 'drawer', body: 'drawer-body' }}
      >
        <div className="sidebar">{sidebar}</div>
      </Modal>
      <Palette
        opened={overlay === 'palette'}
        onClose={close}
        openShortcuts={() => setOverlay('shortcuts')}
        signOut={() => leaving.mutate()}
      />
      <ShortcutsHelp opened={overlay === 'shortcuts'} onClose={close} />
      <UploadsPanel />
    </>
  );
}

/** Without this, a file that is dropped beside a drop zone would replace the page, with its uploads and unsaved input. */
function refuseDroppedFiles(): () => void {
  const refuse = (event: DragEvent) => {
    if (event.defaultPrevented || !event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = 'none';
  };
  addEventListener('dragover', refuse);
  addEventListener('drop', refuse);
  return () => {
    removeEventListener('dragover', refuse);
    removeEventListener('drop', refuse);
  };
}

function PageShortcut({ page: { name, path } }: { page: Page }) {
  const [, navigate] = useLocation();
  useShortcut(shortcutOf(path), `Open ${name}`, () => navigate(path));
  return null;
}

/** The key of the palette opens and closes it. It also has an effect in fields, but not in other dialogs. */
function usePaletteKey(isOpen: boolean, toggle: () => void): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (!opensPalette(event)) return;
      if (!isOpen && document.querySelector('[role="dialog"]') !== null) return;
      event.preventDefault();
      toggle();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  });
}
