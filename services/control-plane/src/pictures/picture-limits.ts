/** How many pictures are stored and made, and how long requests wait for them. */
export type PictureLimits = {
  /** How long a request waits for its picture. Proxies and browsers wait longer. */
  waitMs: number;
  /** Pictures that requests to one control plane wait for at the same time. */
  waits: number;
  /** Pictures of a video, and of all videos of a workspace, that are made at the same time. */
  preparingOfVideo: number;
  preparingOfWorkspace: number;
  /** Stored pictures of a video, and their bytes. Beyond that, a tenth is deleted at once, because each purge lists the objects of the video. */
  stored: number;
  storedBytes: number;
};

export const DEFAULT_PICTURE_LIMITS: PictureLimits = {
  waitMs: 10_000,
  waits: 200,
  preparingOfVideo: 20,
  preparingOfWorkspace: 100,
  stored: 500,
  storedBytes: 128 * 1024 ** 2,
};
