import { ApiError, ConnectionError, FramelaneError } from '@framelane/client';
import { CliError } from './cli-error.ts';
import { errorCode } from './error-code.ts';
import { terminalText } from './terminal/terminal-text.ts';

/** The message of an error for people: what is wrong and what to do, without a stack trace. It is safe to print. */
export function explain(error: unknown): string {
  return messageOf(error).split('\n').map(terminalText).join('\n');
}

function messageOf(error: unknown): string {
  if (error instanceof CliError) return error.message;
  if (error instanceof ConnectionError) return explainConnection(error);
  if (error instanceof ApiError) return explainProblem(error);
  if (error instanceof FramelaneError) return error.message;
  if (error instanceof Error && 'syscall' in error) return `${error.message}.`;
  return `This should not have happened: ${error instanceof Error ? error.message : String(error)}`;
}

function explainProblem({ message: detail, code, problem, requestId }: ApiError): string {
  const fields = (problem.errors ?? []).map(({ field, message }) => `  ${field}: ${message}`);
  // The detail repeats a single one.
  const shown = fields.length > 1 ? fields : [];
  const hint = code.endsWith('_api_key') ? ['Sign in again with "framelane login".'] : [];
  return [detail, ...shown, ...hint, `(${code}, request ${requestId})`].join('\n');
}

/** What codes of Node's sockets mean to a person. */
const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Nothing answers there. Is Framelane running? "framelane start" starts it on this machine.',
  ENOTFOUND: 'No machine has this name. Check the URL.',
  EAI_AGAIN: 'The name could not be looked up. Is this machine connected to a network?',
  ECONNRESET: 'The connection was closed before the response was complete. Try again.',
  CERT_HAS_EXPIRED: 'The certificate of the server has expired.',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'The server has a certificate that it signed itself. Set NODE_EXTRA_CA_CERTS to a file with it.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'Nobody whom this machine trusts has signed the certificate of the server. Set NODE_EXTRA_CA_CERTS to a file with the authority.',
};

function explainConnection({ message, cause }: ConnectionError): string {
  const code = errorCode(cause);
  return `${message} ${(code !== undefined && CAUSES[code]) || 'Check the URL and the network, and try again.'}`;
}
