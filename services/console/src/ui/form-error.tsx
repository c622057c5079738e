import { areAtFields } from '../api/problem.ts';
import { ErrorAlert } from './error-alert.tsx';
import { Refused } from './refused.tsx';

/** The error of a form above its buttons: in full, unless its fields say all of it. Nothing without an error. */
export function FormError({ error, fields }: { error: unknown; fields: readonly string[] }) {
  if (!error) return null;
  return areAtFields(error, fields) ? <Refused error={error} /> : <ErrorAlert error={error} />;
}
