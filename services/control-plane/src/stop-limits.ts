/** Time limits of the phases of an ordered stop, in milliseconds. */
export const STOP_LIMITS_MS = {
  publicListener: 8_000,
  engineEvents: 8_000,
  internalListener: 3_000,
  background: 15_000,
  bandwidth: 3_000,
  requestLog: 3_000,
  database: 3_000,
} as const;

/** The longest stop of a control plane. A supervisor must wait longer than this before it kills the process. */
export const STOP_LIMIT_MS = Object.values(STOP_LIMITS_MS).reduce((sum, limit) => sum + limit, 0);
