/** Times of a control plane in seconds. Operators cannot set them. */
export type Timing = {
  uploadLease: number;
  taskLease: number;
  retryBackoff: number;
  maintenance: number;
  purgeRepeat: number;
  usageFlush: number;
  webhookSchedule: readonly number[];
  webhookTimeout: number;
};

/** Leases are short, so that they expire soon after a service is killed. */
export const SHORT_TIMES: Timing = {
  uploadLease: 4,
  taskLease: 4,
  retryBackoff: 1,
  maintenance: 2,
  purgeRepeat: 5,
  usageFlush: 1,
  webhookSchedule: [0, 1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 16, 16, 16, 16, 16],
  webhookTimeout: 15,
};
