import { FramelaneError } from '@framelane/client';
import { Alert, Paper, Stack, Text, Title } from '@mantine/core';
import { useEffect } from 'react';
import { Copy } from '../ui/copy.tsx';

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
          <SignInWords workspaceId="ws_…" />
        </Stack>
      </Paper>
    </main>
  );
}

/** How to get a sign-in link. */
export function SignInWords({ workspaceId }: { workspaceId: string }) {
  return (
    <>
      <Text>
        The console opens with a one-time link. <code>npm start</code> prints one. An administrator creates
        another with:
      </Text>
      <Copy
        label="Command for a sign-in link"
        value={`npm run admin -- console-link --workspace ${workspaceId}`}
      />
    </>
  );
}
