import { Alert, Text } from '@mantine/core';
import { areAtFields, wordsFor } from '../api/problem.ts';
import { ErrorAlert } from './error-alert.tsx';

/** The error of a form above its buttons: in full, unless its fields say all of it. Nothing without an error. */
export function FormError({ error, fields }: { error: unknown; fields: readonly string[] }) {
  if (!error) return null;
  return areAtFields(error, fields) ? <Refused error={error} /> : <ErrorAlert error={error} />;
}

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
