import { ErrorAlert } from './error-alert.tsx';

/** Shown if the files of a page cannot be loaded, for instance because an upgrade has replaced them. */
export function LoadFailure({ error }: { error: unknown }) {
  return <ErrorAlert error={error} retry={() => location.reload()} />;
}
