import { FramelaneError } from '@framelane/client';
import { Alert, Paper, Stack, Text, Title } from '@mantine/core';
import { useEffect } from 'react';
import { ADMIN_PLACE, adminCommand, isSingleNode } from '../ui/admin-command.ts';
import { Copy } from '../ui/copy.tsx';
import { failureWords, type SignInFailure, takeFailure } from './sign-in-failure.ts';
import { providerName, SignInAtProvider } from './sign-in-provider.tsx';

/** The failure that brought the browser to this page. */
const failure = takeFailure(location, history);

/** The page for somebody without a session. */
export function SignInPage({ error }: { error: unknown }) {
  useEffect(() => {
    document.title = 'Sign in – Framelane';
  }, []);
  const isCodeRefused = error instanceof FramelaneError && error.code === 'console_code_invalid';
  return (
    <main className="narrow">
      <Paper withBorder p="lg" radius="md">
        <Stack>
          <Title order={1} size="h2">
            Sign in to Framelane
          </Title>
          {isCodeRefused && (
            <Alert color="red" role="alert" title="This link is not valid">
              A link works once, and for 10 minutes. Create a new one.
              {error.requestId !== null && <div className="request-id">Request {error.requestId}</div>}
            </Alert>
          )}
          {failure !== undefined && <FailureAlert {...failure} />}
          <SignInAtProvider />
          <SignInWords />
        </Stack>
      </Paper>
    </main>
  );
}

/** Why the sign-in at the provider failed. */
function FailureAlert({ reason, requestId }: SignInFailure) {
  const { title, detail } = failureWords(reason, providerName ?? 'The provider');
  return (
    <Alert color="red" role="alert" title={title}>
      {detail}
      {requestId !== '' && <div className="request-id">Request {requestId}</div>}
    </Alert>
  );
}

/** How to get a sign-in link. */
export function SignInWords() {
  return (
    <>
      <Text>
        {providerName === undefined ? 'The console opens' : 'The console also opens'} with a one-time link.{' '}
        {isSingleNode && <>The start of Framelane prints one. </>}
        An operator creates another{ADMIN_PLACE} with:
      </Text>
      <Copy label="Command for a sign-in link" value={adminCommand('console-link --administrator')} />
    </>
  );
}
