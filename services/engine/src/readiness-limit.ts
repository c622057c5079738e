/**
 * How long an engine takes to say whether it is ready: longer than the five seconds of the check of its storage. All engines
 * share one storage, so a limit below would take them all out when it is only slow. Probes have to wait for longer.
 */
export const READINESS_LIMIT_MS = 6_000;
