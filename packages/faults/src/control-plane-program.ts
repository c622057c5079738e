import { readControlPlaneConfig } from '@framelane/control-plane/config';
import { runControlPlane } from '@framelane/control-plane/run-control-plane';
import type { Timing } from './timing.ts';

/** A program: the control plane as in production, with the Timing in its argument, as JSON. */
const timing: Timing = JSON.parse(process.argv[2] ?? '');

await runControlPlane((env) => {
  const config = readControlPlaneConfig(env);
  return {
    ...config,
    uploads: { ...config.uploads, leaseSeconds: timing.uploadLease },
    attempts: {
      ...config.attempts,
      leaseSeconds: timing.taskLease,
      retryBackoffSeconds: timing.retryBackoff,
    },
    maintenanceSeconds: timing.maintenance,
    purgeRepeatSeconds: timing.purgeRepeat,
    usageFlushSeconds: timing.usageFlush,
    webhooks: {
      ...config.webhooks,
      retryScheduleSeconds: timing.webhookSchedule,
      timeoutSeconds: timing.webhookTimeout,
    },
  };
});
