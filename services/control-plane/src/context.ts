import { countRequests } from '@framelane/service-kit/metrics';
import type { FrontEnd as FrontEndName } from '@framelane/web-build/front-ends';
import { authentication } from './auth/authentication.ts';
import { SessionCookie } from './auth/session-cookie.ts';
import { createBackgroundWork } from './background-work.ts';
import type { ControlPlaneConfig } from './config.ts';
import { PlayerPage } from './embed/player-page.ts';
import { FrontEnd } from './front-ends/front-end.ts';
import { routeOf } from './http/request-validation.ts';
import { idempotent } from './idempotency/idempotent.ts';
import { createInfrastructure, type Infrastructure, type InfrastructureDeps } from './infrastructure.ts';
import { ConcurrencyLimit } from './rate-limits/concurrency-limit.ts';
import { FailureLimit } from './rate-limits/failure-limit.ts';
import { RequestLimit } from './rate-limits/request-limit.ts';
import { TokenGuessLimit } from './rate-limits/token-guess-limit.ts';
import { createServices, type Services } from './services.ts';
import { createWorkAfterCommit } from './work-after-commit.ts';

/** What the process that runs the control plane provides. */
export type ControlPlaneDeps = InfrastructureDeps & {
  /** Whether the build that this process started has failed; undefined if this process builds nothing. */
  pageBuildFailed?: (page: FrontEndName) => boolean;
  /** What starts the administration command, for the sign-in page, which everybody can see; undefined in a container. */
  adminCommand?: string;
  /** Ends the waits of the start. */
  starting?: AbortSignal;
};

/** All parts of the control plane, connected to each other. */
export type Context = ReturnType<typeof createContext>;

/** Builds the parts of a control plane. It opens no connection and starts nothing. */
export function createContext(config: ControlPlaneConfig, deps: ControlPlaneDeps) {
  const infrastructure = createInfrastructure(config, deps);
  const workAfterCommit = createWorkAfterCommit(config, infrastructure);
  const services = createServices(config, infrastructure, workAfterCommit);
  // Without the keys and the pool, which only the services use.
  const { bus, logger, tracing, addresses, db, checks, leaseGrace, metrics, importGuard } = infrastructure;
  return {
    config,
    bus,
    logger,
    tracing,
    addresses,
    db,
    checks,
    leaseGrace,
    metrics,
    importGuard,
    starting: deps.starting ?? new AbortController().signal,
    ...services,
    ...createBackgroundWork(config, infrastructure, services, workAfterCommit),
    ...createHttpParts(config, infrastructure, services, deps),
  };
}

/** What the HTTP applications use besides the services. */
function createHttpParts(
  { publicUrl, rateLimits, concurrentRequests, analytics }: ControlPlaneConfig,
  { db, metrics, addresses }: Infrastructure,
  { keys, consoleSessions, idempotency }: Services,
  { pageBuildFailed, adminCommand }: ControlPlaneDeps,
) {
  const sessionCookie = new SessionCookie(publicUrl);
  const failures = new FailureLimit(rateLimits.failuresPerMinute);
  return {
    sessionCookie,
    failures,
    authenticate: authentication({ keys, sessions: consoleSessions }, sessionCookie, {
      concurrency: new ConcurrencyLimit(concurrentRequests),
      requests: new RequestLimit(rateLimits.requestsPerMinute),
      failures,
    }),
    tokenGuesses: new TokenGuessLimit(rateLimits.failuresPerMinute),
    idempotent: idempotent(db, idempotency, publicUrl),
    playerPage: new PlayerPage(addresses.baseUrl, new FrontEnd('player', pageBuildFailed), {
      countsViews: analytics.enabled,
    }),
    consoleFrontEnd: new FrontEnd('console', pageBuildFailed),
    docsFrontEnd: new FrontEnd('docs-site', pageBuildFailed),
    adminCommand,
    countRequests: countRequests(metrics.registry, routeOf),
  };
}
