import { Button, Modal, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { isSessionError } from '../api/problem.ts';
import { SESSION_KEY } from '../api/query-client.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { Loading } from '../ui/loading.tsx';
import { SessionContext, useSessionQuery } from './session.ts';
import { SignInPage, SignInWords } from './sign-in-page.tsx';
import { SignInAtProvider } from './sign-in-provider.tsx';

/** Shows the page to somebody who is signed in. If the session ends, a dialog covers the page, which keeps what was typed. */
export function SessionGate({ children }: { children: ReactNode }) {
  const queries = useQueryClient();
  const { data: session, error, isFetching, refetch } = useSessionQuery();
  const scope = session && `${session.workspace.id} ${session.environment}`;

  useEffect(() => {
    // A sign-in link that is opened in a tab with the console only changes the fragment.
    const onHashChange = () => void queries.invalidateQueries({ queryKey: SESSION_KEY });
    addEventListener('hashchange', onHashChange);
    return () => removeEventListener('hashchange', onHashChange);
  }, [queries]);

  const sessionId = session?.id;
  const latest = useRef({ sessionId, scope });
  useEffect(() => {
    const isOther = ({ queryKey }: { queryKey: readonly unknown[] }) => queryKey[0] !== SESSION_KEY[0];
    const before = latest.current;
    latest.current = { sessionId, scope };
    // Nothing of one workspace is shown in another one.
    if (before.scope !== undefined && before.scope !== scope)
      void queries.resetQueries({ predicate: isOther });
    else if (before.sessionId !== sessionId) void queries.invalidateQueries({ predicate: isOther });
  }, [sessionId, scope, queries]);

  if (session === undefined) {
    if (error === null) return <Loading />;
    return isSessionError(error) ? (
      <SignInPage error={error} />
    ) : (
      <main className="narrow">
        <ErrorAlert error={error} retry={() => void refetch()} />
      </main>
    );
  }
  return (
    <SessionContext value={session}>
      <div key={scope}>{children}</div>
      <Modal
        opened={isSessionError(error)}
        onClose={() => {}}
        withCloseButton={false}
        title="Your session has ended"
      >
        <Stack>
          <Text>What you typed is still here. Sign in again in another tab, then come back.</Text>
          <SignInAtProvider target="_blank" />
          <SignInWords />
          <Button loading={isFetching} onClick={() => void refetch()}>
            I have signed in
          </Button>
        </Stack>
      </Modal>
    </SessionContext>
  );
}
