import { AddressGuard } from '@framelane/address-guard/address-guard';
import { type ResolveHost, resolveHost } from '@framelane/address-guard/resolve-host';
import type { MessageBus } from '@framelane/message-bus/message-bus';
import { traced } from '@framelane/message-bus/traced-bus';
import type { ObjectStore } from '@framelane/object-store/object-store';
import type { ReadinessChecks } from '@framelane/service-kit/health';
import type { Logger } from '@framelane/service-kit/logger';
import type { Tracing } from '@framelane/service-kit/tracing';
import type pg from 'pg';
import { LeaseGrace } from './background/lease-grace.ts';
import type { ControlPlaneConfig } from './config.ts';
import { openDatabase, openPool } from './db/database.ts';
import { DatabaseClock } from './db/database-clock.ts';
import { Metrics } from './metrics/metrics.ts';
import { sealingKeysOf } from './sealed-values/installation-secrets.ts';

/** What the infrastructure needs from the process that runs the control plane. */
export type InfrastructureDeps = {
  bus: MessageBus;
  objects: ObjectStore;
  logger: Logger;
  /** Undefined if no traces are exported. */
  tracing?: Tracing | undefined;
  /** Additional readiness checks. */
  checks?: ReadinessChecks;
  /** Resolves the host names of webhook endpoints. Default: by DNS. Tests replace it. */
  resolveHost?: ResolveHost;
  /** The class of the connections to the database. Default: that of pg. The simulation replaces it. */
  databaseClient?: typeof pg.Client;
};

/** What the services of all domains use: connections, keys, metrics and checks. */
export type Infrastructure = ReturnType<typeof createInfrastructure>;

/** Builds the infrastructure. It opens no connection. */
export function createInfrastructure(config: ControlPlaneConfig, deps: InfrastructureDeps) {
  const { objects, logger, tracing } = deps;
  const bus = traced(deps.bus, tracing);
  const { contentKey: current, previousContentKeys: previous } = config.secrets;
  const pool = openPool(config.databaseUrl, logger, { Client: deps.databaseClient });
  const db = openDatabase(pool);
  const clock = new DatabaseClock(db);
  const checks = {
    database: () => clock.read(),
    queue: () => bus.check(),
    storage: () => objects.check(),
    ...deps.checks,
  };
  return {
    bus,
    objects,
    logger,
    tracing,
    addresses: { baseUrl: `${config.publicUrl}/v1`, engineUrl: config.enginePublicUrl },
    ...sealingKeysOf({ current, previous }),
    pool,
    db,
    clock,
    metrics: new Metrics(),
    checks,
    leaseGrace: new LeaseGrace({
      check: () => Promise.all([checks.database(), checks.queue()]),
      shortestLeaseSeconds: Math.min(config.uploads.leaseSeconds, config.attempts.leaseSeconds),
    }),
    guard: new AddressGuard({
      allowedRanges: config.webhooks.allowedRanges,
      publicProtocols: ['https:'],
      resolveHost: deps.resolveHost ?? resolveHost,
    }),
    importGuard: new AddressGuard({
      allowedRanges: config.imports.allowedRanges,
      publicProtocols: ['https:', 'http:'],
      resolveHost: deps.resolveHost ?? resolveHost,
    }),
  };
}
