import type {
  CheckAttemptRequest,
  CheckTaskRequest,
  ClaimAttemptRequest,
  ClaimAttemptResponse,
  ClaimTaskRequest,
  ClaimTaskResponse,
  PlanAttemptRequest,
} from '@framelane/contracts/internal-api';

/** The requests of the transcode worker to the control plane. All reject if it is unreachable. */
export interface AttemptClient {
  /** Claims the next attempt at a video; null if there is nothing to claim: it runs elsewhere, is finished, or was deleted. */
  claimAttempt(request: ClaimAttemptRequest): Promise<ClaimAttemptResponse | null>;
  /** Whether the attempt holds its lease and the video is not deleted. */
  isAttemptCurrent(request: CheckAttemptRequest): Promise<boolean>;
  /** Stores the plan of the attempt. Resolves with false if the attempt has ended. */
  planAttempt(request: PlanAttemptRequest): Promise<boolean>;
  /** Claims the next task of a video; null if none waits. */
  claimTask(request: ClaimTaskRequest): Promise<ClaimTaskResponse | null>;
  /** Whether the try of a task holds its lease and the video is not deleted. */
  isTaskCurrent(request: CheckTaskRequest): Promise<boolean>;
}
