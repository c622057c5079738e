import { Badge, Button, useComputedColorScheme, useMantineColorScheme } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { paths } from '../paths.ts';
import { signOut, useSession } from '../session/session.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { UploadsPanel } from '../uploads/uploads-panel.tsx';

/** What surrounds every page: navigation, workspace, sign-out and the uploads. */
export function Shell({ children }: { children: ReactNode }) {
  const { workspace, environment, can } = useSession();
  const leaving = useMutation({ mutationFn: signOut });
  return (
    <>
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <header className="header">
        <span className="brand">Framelane</span>
        <nav aria-label="Pages">
          <NavigationLink to={paths.videos}>Videos</NavigationLink>
          {can('api_keys:read') && <NavigationLink to={paths.keys}>Keys</NavigationLink>}
        </nav>
        <div className="header-end">
          <span className="workspace">{workspace.name}</span>
          <Badge variant="light" color={environment === 'live' ? 'blue' : 'gray'}>
            {environment}
          </Badge>
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

function NavigationLink({ to, children }: { to: string; children: string }) {
  return (
    <Link href={to} className={(isActive) => (isActive ? 'active' : '')}>
      {children}
    </Link>
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
