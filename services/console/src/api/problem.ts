import { FramelaneError } from '@framelane/client';

/** An error in words. */
export type Words = {
  /** What happened. */
  title: string;
  /** What is wrong and what to do. */
  detail: string;
  /** To quote in a report; null if the request got no response of Framelane. */
  requestId: string | null;
  /** The URL of a page about this kind of error; null if there is none. */
  page: string | null;
};

/** Whether the request was refused because the session is missing or has ended. */
export function isSessionError(error: unknown): boolean {
  return error instanceof FramelaneError && error.status === 401;
}

/** Whether no response came. */
export function isConnectionError(error: unknown): boolean {
  return error instanceof FramelaneError && error.code === 'connection_failed';
}

/** Whether the requested object does not exist. */
export function isGone(error: unknown): boolean {
  return error instanceof FramelaneError && error.status === 404;
}

/** Whether the request was refused because the session lacks the workspace or environment. */
export function isScopeError(error: unknown): boolean {
  return (
    error instanceof FramelaneError &&
    (error.code === 'workspace_mismatch' || error.code === 'environment_mismatch')
  );
}

/** An error in words for people. */
export function wordsFor(error: unknown): Words {
  if (!(error instanceof FramelaneError)) {
    return {
      title: 'Something went wrong',
      detail: 'Reload the page and try again.',
      requestId: null,
      page: null,
    };
  }
  const { problem, requestId } = error;
  if (isConnectionError(error)) {
    return {
      title: 'No connection',
      detail: 'Framelane did not respond. Check the network, then try again.',
      requestId,
      page: null,
    };
  }
  if (problem === null) return { title: 'Unexpected response', detail: error.message, requestId, page: null };
  const fields = (problem.errors ?? []).map(({ field, message }) => `${fieldName(field)} ${message}`);
  const page = /^https?:/.test(problem.type) ? problem.type : null;
  return { title: problem.title, detail: [problem.detail, ...fields].join(' — '), requestId, page };
}

/** The error of a field of the request, or of an entry of the field; null if it has none. */
export function fieldMessage(error: unknown, name: string): string | null {
  const problems = error instanceof FramelaneError ? (error.problem?.errors ?? []) : [];
  const found = problems.find(({ field }) => fieldName(field).split('/')[0] === name);
  if (found === undefined) return null;
  const [, ...entry] = fieldName(found.field).split('/');
  const words = [...entry, found.message].join(' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Whether each part of an error is about one of these fields of the request. */
export function areAtFields(error: unknown, names: readonly string[]): boolean {
  const problems = error instanceof FramelaneError ? (error.problem?.errors ?? []) : [];
  return (
    problems.length > 0 && problems.every(({ field }) => names.includes(fieldName(field).split('/')[0] ?? ''))
  );
}

/** `body/name` is the field `name`. */
function fieldName(field: string): string {
  return field.replace(/^(body|query|path)\//, '');
}
