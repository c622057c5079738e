import { FramelaneError } from '@framelane/client';

/** An error in words. */
export type Words = {
  /** What happened. */
  title: string;
  /** What is wrong and what to do. */
  detail: string;
  /** To quote in a report; null if the request got no response of Framelane. */
  requestId: string | null;
};

/** Whether the request was refused because the session is missing or has ended. */
export function isSessionError(error: unknown): boolean {
  return error instanceof FramelaneError && error.status === 401;
}

/** What a person can read about an error. */
export function wordsFor(error: unknown): Words {
  if (!(error instanceof FramelaneError)) {
    return { title: 'Something went wrong', detail: 'Reload the page and try again.', requestId: null };
  }
  const { code, problem, requestId } = error;
  if (code === 'connection_failed') {
    return {
      title: 'No connection',
      detail: 'Framelane did not respond. Check the network, then try again.',
      requestId,
    };
  }
  if (problem === null) return { title: 'Unexpected response', detail: error.message, requestId };
  const fields = (problem.errors ?? []).map(({ field, message }) => `${fieldName(field)} ${message}`);
  return { title: problem.title, detail: [problem.detail, ...fields].join(' — '), requestId };
}

/** `body/name` is the field `name`. */
function fieldName(field: string): string {
  return field.replace(/^(body|query|path)\//, '');
}
