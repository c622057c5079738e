import { CliError } from '../../cli-error.ts';

type Facts = { status?: number; temporary?: boolean; retryAfterMs?: number | undefined; cause?: unknown };

/** A request to a service, or a download, has failed. The message says what to do, and contains no query of a URL: it may be a secret. */
export class TransferError extends CliError {
  override name = 'TransferError';
  /** HTTP status; undefined without a response. */
  readonly status: number | undefined;
  /** Whether a repetition may help. */
  readonly temporary: boolean;
  /** How long the server asks to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { status, temporary = false, retryAfterMs, cause }: Facts = {}) {
    super(message, { cause });
    this.status = status;
    this.temporary = temporary;
    this.retryAfterMs = retryAfterMs;
  }
}
