import { Alert, Anchor, Button, Stack, Text } from '@mantine/core';
import { wordsFor } from '../api/problem.ts';

/** Shows the title and detail of an error, with the request id and a link to the page about such errors. */
export function ErrorAlert({ error, retry }: { error: unknown; retry?: () => void }) {
  const { title, detail, requestId, page } = wordsFor(error);
  return (
    <Alert color="red" role="alert" title={title}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{detail}</Text>
        {requestId !== null && <div className="request-id">Request {requestId}</div>}
        {page !== null && (
          <Anchor size="sm" c="inherit" underline="always" href={page} target="_blank" rel="noopener">
            About this error
          </Anchor>
        )}
        {retry && (
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}
