import type {
  AttemptWantedRequest,
  ClaimAttemptRequest,
  ClaimAttemptResponse,
} from '@framelane/contracts/internal-api';

/** What the transcode worker asks the control plane. Both reject when it cannot be reached. */
export interface AttemptClient {
  /** Claims the next attempt at a video; null when there is none to claim: it runs elsewhere, is done, or gone. */
  claimAttempt(request: ClaimAttemptRequest): Promise<ClaimAttemptResponse | null>;
  /** Whether the attempt still holds its lease on a video that still exists. */
  attemptWanted(request: AttemptWantedRequest): Promise<boolean>;
}
