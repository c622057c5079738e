import { Button, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { pagesFor, shortcutOf } from '../navigation.ts';
import { useSession } from '../sign-in/session.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { listenToShortcuts, useShortcut } from '../ui/shortcuts.ts';
import { ShortcutsHelp } from '../ui/shortcuts-help.tsx';
import { UploadsPanel } from '../uploads/uploads-panel.tsx';
import { ScopeSwitch } from './scope-switch.tsx';
import { signOut } from './sign-out.ts';

/** The frame of every page: navigation, workspace, sign-out and the uploads. */
export function Shell({ children }: { children: ReactNode }) {
  const session = useSession();
  const leaving = useMutation({ mutationFn: signOut });
  useEffect(refuseDroppedFiles, []);
  return (
    <>
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <header className="header">
        <span className="brand">Framelane</span>
        <nav aria-label="Pages">
          {pagesFor(session).map(({ name, path }) => (
            <NavigationLink key={path} to={path} name={name} />
          ))}
        </nav>
        <div className="header-end">
          <ScopeSwitch />
          <HelpButton />
          <AppearanceButton />
          <Button size="xs" variant="default" loading={leaving.isPending} onClick={() => leaving.mutate()}>
            Sign out
          </Button>
        </div>
      </header>
      <main id="content" tabIndex={-1} className="content">
        {leaving.error && <ErrorAlert error={leaving.error} />}
        {children}
      </main>
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

function NavigationLink({ to, name }: { to: string; name: string }) {
  const [path, navigate] = useLocation();
  useShortcut(shortcutOf(to), `Open ${name}`, () => navigate(to));
  // Also for the page of one video or webhook.
  const isCurrent = path === to || path.startsWith(`${to}/`);
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (isCurrent) scrollPagesTo(link.current);
  }, [isCurrent]);
  return (
    <Link
      ref={link}
      href={to}
      className={isCurrent ? 'active' : ''}
      aria-current={isCurrent ? 'page' : undefined}
    >
      {name}
    </Link>
  );
}

/** Shows a link of the navigation, which scrolls on a phone. The page keeps its place, which `scrollIntoView` would change. */
function scrollPagesTo(link: HTMLElement | null): void {
  const pages = link?.parentElement;
  if (!link || !pages) return;
  const [inner, outer] = [link.getBoundingClientRect(), pages.getBoundingClientRect()];
  pages.scrollLeft += (inner.left + inner.right - outer.left - outer.right) / 2;
}

/** Keyboard shortcuts, and their help. */
function HelpButton() {
  const [isOpen, setIsOpen] = useState(false);
  useEffect(listenToShortcuts, []);
  useShortcut('?', 'Show this help', () => setIsOpen(true));
  return (
    <>
      <Button
        size="xs"
        variant="default"
        className="shortcuts-button"
        onClick={() => setIsOpen(true)}
        aria-label="Keyboard shortcuts"
      >
        ?
      </Button>
      <ShortcutsHelp opened={isOpen} onClose={() => setIsOpen(false)} />
    </>
  );
}

function AppearanceButton() {
  const { setColorScheme } = useMantineColorScheme();
  const other = useComputedColorScheme('light') === 'light' ? 'dark' : 'light';
  return (
    <Button
      size="xs"
      variant="default"
      onClick={() => setColorScheme(other)}
      aria-label={`${other === 'dark' ? 'Dark' : 'Light'} appearance`}
    >
      {other === 'dark' ? 'Dark' : 'Light'}
    </Button>
  );
}
