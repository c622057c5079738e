import { HostNotFoundError } from '@framelane/address-guard/resolve-host';
import { ResponseCheck } from '@framelane/openapi-tools/response-check';
import { testSeed } from '@framelane/test-kit/random';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { makePictures } from './support/derivations.ts';
import { contractOperations } from './support/property/contract-operations.ts';
import { HttpExchange } from './support/property/http-exchange.ts';
import { PropertyWorkspace } from './support/property/property-workspace.ts';
import { type Step, stepSequences } from './support/property/request-plans.ts';
import { SchemaValues } from './support/property/schema-values.ts';
import { violationsOf } from './support/response-rules.ts';
import { TestEndpoint } from './support/test-endpoint.ts';
import { localWebhooks } from './support/webhooks.ts';

/** The number of requests of a run. */
const REQUESTS = Number(process.env.PROPERTY_REQUESTS ?? 1_300);
/**
 * A run prints both, so that it can be repeated: the seed generates the same requests, and the path leads to
 * the counterexample.
 */
const SEED = testSeed();
const PATH = process.env.PROPERTY_PATH ?? '';
/** More sequences than needed: one has about forty requests. */
const SEQUENCES = REQUESTS / 20;
/** Runs for operations that have never succeeded. */
const MORE_ROUNDS = 10;

let plane: TestControlPlane;
let endpoint: TestEndpoint;
let exchange: HttpExchange;
beforeAll(async () => {
  endpoint = await TestEndpoint.start();
  plane = await startControlPlane(
    (config) => ({ ...localWebhooks(config), hasRecognizer: true }),
    {},
    { resolveHost: resolvesNoName },
  );
  await makePictures(plane);
  exchange = new HttpExchange(plane.url);
});
afterAll(async () => {
  exchange.close();
  await plane.stop();
  await endpoint.stop();
});

/** URLs of servers that do not exist. `fc.webUrl` would do, but takes seconds before it generates the first one. */
const elsewhere = fc
  .tuple(fc.constantFrom('http', 'https'), fc.domain(), fc.string({ unit: 'grapheme' }))
  .map(([scheme, host, path]) => `${scheme}://${host}/${encodeURI(path).replaceAll('#', '%23')}`);

/** Webhooks reach loopback addresses only, and no name resolves. */
async function resolvesNoName(host: string): Promise<string[]> {
  throw new HostNotFoundError(host);
}

async function get(path: string): Promise<{ status: number; body: Buffer }> {
  return exchange.send({ method: 'get', path, headers: [], body: undefined });
}

test(
  `${REQUESTS} requests generated from the contract get responses that conform to it`,
  async () => {
    const published: object = JSON.parse((await get('/v1/openapi.json')).body.toString('utf8'));
    const operations = contractOperations(published);
    const check = new ResponseCheck(published);
    const values = new SchemaValues({ urls: fc.oneof(fc.constant(endpoint.url), elsewhere) });
    /** Operations that succeeded. */
    const successful = new Set<string>();
    let sent = 0;
    let succeeded = 0;

    /** Sends a sequence in a new workspace. Throws with all requests when a response is wrong. */
    async function send(steps: Step[]): Promise<void> {
      const workspace = await PropertyWorkspace.open(plane, endpoint.url);
      const log: string[] = [];
      for (const step of steps) {
        if (step.kind === 'engine') {
          log.push(`# an engine receives a file: ${step.outcome}`);
          await workspace.act(step);
          continue;
        }
        const request = workspace.resolve(step.plan);
        log.push(exchange.toCurl(request));
        const response = await exchange.send(request);
        sent += 1;
        const violations = violationsOf(step.plan, response, check);
        if (violations.length > 0) throw new Error([...log, ...violations.map(asComment)].join('\n'));
        workspace.learn(response);
        if (response.status >= 300) continue;
        succeeded += 1;
        successful.add(`${request.method} ${step.plan.operation.path}`);
      }
    }

    let failed = false;
    const property = fc.asyncProperty(stepSequences(operations, values), async (steps) => {
      // Enough requests, unless a counterexample is being shrunk.
      if (sent >= REQUESTS && !failed) return;
      try {
        await send(steps);
      } catch (error) {
        failed = true;
        throw error;
      }
    });
    process.stdout.write(`Requests from the contract: PROPERTY_SEED=${SEED} PROPERTY_REQUESTS=${REQUESTS}\n`);
    const outcome = await fc.check(property, { seed: SEED, path: PATH, numRuns: SEQUENCES });
    if (outcome.failed) {
      const replay = `PROPERTY_SEED=${SEED} PROPERTY_PATH=${outcome.counterexamplePath}`;
      throw new Error(`${replay}\n${(outcome.errorInstance as Error).message}`);
    }
    process.stdout.write(`Requests from the contract: ${sent} sent, ${succeeded} succeeded\n`);

    expect((await get('/readyz')).status).toBe(200);
    expect(sent).toBeGreaterThanOrEqual(REQUESTS);
    // The requests use API keys, not console sessions.
    const neverSuccessful = () =>
      operations.filter(
        ({ method, path }) => !path.startsWith('/console/') && !successful.has(`${method} ${path}`),
      );
    // A random run can miss some, which get requests of their own, until each has succeeded.
    for (let round = 0; round < MORE_ROUNDS && neverSuccessful().length > 0; round += 1) {
      const missed = neverSuccessful();
      const more = fc.asyncProperty(stepSequences(missed, values), send);
      await fc.assert(more, { seed: SEED + round, numRuns: missed.length });
    }
    expect(neverSuccessful().map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  },
  120_000 + 100 * REQUESTS,
);

function asComment(violation: string): string {
  return `# ${violation.replaceAll('\n', '\n# ')}`;
}
