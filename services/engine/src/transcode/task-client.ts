import type {
  CheckTaskRequest,
  ClaimTaskRequest,
  ClaimTaskResponse,
  ReportNoRoomRequest,
  StorePlanRequest,
} from '@framelane/contracts/internal-api';

/** The requests of the transcode worker to the control plane. All reject if it is unreachable. */
export interface TaskClient {
  /** Claims the next task of a video; null if none waits: it runs elsewhere, or the video is complete or deleted. */
  claimTask(request: ClaimTaskRequest): Promise<ClaimTaskResponse | null>;
  /** Stores the plan that a try has made. Resolves with false if the try has ended. */
  storePlan(request: StorePlanRequest): Promise<boolean>;
  /** Reports that this engine has dropped the command of a derivation for which its disk has no room. */
  reportNoRoom(request: ReportNoRoomRequest): Promise<void>;
  /** Whether the try of a task holds its lease and the video is not deleted. */
  isTaskCurrent(request: CheckTaskRequest): Promise<boolean>;
}
