import { Alert, Button, Stack, Text } from '@mantine/core';
import { wordsFor } from '../api/problem.ts';

/** Shows the title and detail of an error, with the request id. */
export function ErrorAlert({ error, retry }: { error: unknown; retry?: () => void }) {
  const { title, detail, requestId } = wordsFor(error);
  return (
    <Alert color="red" role="alert" title={title}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{detail}</Text>
        {requestId !== null && <div className="request-id">Request {requestId}</div>}
        {retry && (
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}
