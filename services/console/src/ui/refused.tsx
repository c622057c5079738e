import { Alert, Text } from '@mantine/core';
import { wordsFor } from '../api/problem.ts';

/** Says that a form was not saved, when its fields say why. */
export function Refused({ error }: { error: unknown }) {
  const { requestId } = wordsFor(error);
  return (
    <Alert color="red" role="alert" title="Not saved">
      <Text size="sm">Correct the marked fields, then try again.</Text>
      {requestId !== null && <div className="request-id">Request {requestId}</div>}
    </Alert>
  );
}
