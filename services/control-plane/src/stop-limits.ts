/** What the phases of an ordered stop may take, in milliseconds. */
export const STOP_LIMITS_MS = {
  publicListener: 8_000,
  engineEvents: 8_000,
  internalListener: 3_000,
  background: 15_000,
  bandwidth: 3_000,
  database: 3_000,
} as const;

/** What the stop of a control plane takes at the most. Whoever stops it has to wait for longer. */
export const STOP_LIMIT_MS = Object.values(STOP_LIMITS_MS).reduce((sum, limit) => sum + limit, 0);
