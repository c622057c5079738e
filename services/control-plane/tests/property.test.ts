import { AnswerCheck } from '@framelane/openapi/answer-check';
import { testSeed } from '@framelane/test-kit/seed';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ControlPlaneConfig } from '../src/config.ts';
import { HostNotFoundError } from '../src/webhooks/resolve-host.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';
import { complaintsAbout } from './support/property/answer-rules.ts';
import { contractOperations } from './support/property/contract-operations.ts';
import { HttpExchange } from './support/property/http-exchange.ts';
import { PropertyWorkspace } from './support/property/property-workspace.ts';
import { type Step, stepSequences } from './support/property/request-plans.ts';
import { SchemaValues } from './support/property/schema-values.ts';
import { Receiver } from './support/receiver.ts';
import { localWebhooks } from './support/webhooks.ts';

/** Requests to send in all. */
const REQUESTS = Number(process.env.PROPERTY_REQUESTS ?? 2_000);
/** Repeats a run by what it printed: the seed makes the same requests, the path goes straight to a counterexample. */
const SEED = testSeed();
const PATH = process.env.PROPERTY_PATH ?? '';
/** A sequence has some forty requests, so these are more than enough of them. */
const SEQUENCES = REQUESTS / 20;

let plane: TestControlPlane;
let receiver: Receiver;
let exchange: HttpExchange;
beforeAll(async () => {
  receiver = await Receiver.start();
  plane = await startControlPlane(asInProduction, {}, { resolveHost: knowsNobody });
  exchange = new HttpExchange(plane.url);
});
afterAll(async () => {
  exchange.close();
  await plane.stop();
  await receiver.stop();
});

/** Answers go out unchecked, as they do in production: here they are judged from outside. */
function asInProduction(config: ControlPlaneConfig): ControlPlaneConfig {
  return { ...localWebhooks(config), validateResponses: false };
}

/** Nothing leaves the machine: webhooks reach addresses of the loopback only, names stand for nothing. */
async function knowsNobody(host: string): Promise<string[]> {
  throw new HostNotFoundError(host);
}

async function get(path: string): Promise<{ status: number; body: Buffer }> {
  return exchange.send({ method: 'get', path, headers: [], body: undefined });
}

test(
  `${REQUESTS} requests made from the contract get answers that keep it`,
  async () => {
    const published: object = JSON.parse((await get('/v1/openapi.json')).body.toString('utf8'));
    const operations = contractOperations(published);
    const check = new AnswerCheck(published);
    const values = new SchemaValues({ urls: fc.oneof(fc.constant(receiver.url), fc.webUrl()) });
    /** Operations that were carried out. */
    const successful = new Set<string>();
    let sent = 0;
    let succeeded = 0;

    /** Lives a sequence in a workspace of its own. Throws with all that was sent when an answer is wrong. */
    async function live(steps: Step[]): Promise<void> {
      const workspace = await PropertyWorkspace.open(plane, receiver.url);
      const story: string[] = [];
      for (const step of steps) {
        if (step.kind === 'engine') {
          story.push(`# an engine takes a file in: ${step.outcome}`);
          await workspace.act(step);
          continue;
        }
        const request = workspace.resolve(step.plan);
        story.push(exchange.toCurl(request));
        const answer = await exchange.send(request);
        sent += 1;
        const complaints = complaintsAbout(step.plan, answer, check);
        if (complaints.length > 0) throw new Error([...story, ...complaints.map(asRemark)].join('\n'));
        workspace.learn(answer);
        if (answer.status >= 300) continue;
        succeeded += 1;
        successful.add(`${request.method} ${step.plan.operation.path}`);
      }
    }

    let failed = false;
    const property = fc.asyncProperty(stepSequences(operations, values), async (steps) => {
      // Enough, unless it goes on to make a counterexample smaller.
      if (sent >= REQUESTS && !failed) return;
      try {
        await live(steps);
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
    process.stdout.write(`Requests from the contract: ${sent} sent, ${succeeded} carried out\n`);

    expect((await get('/readyz')).status).toBe(200);
    expect(sent).toBeGreaterThanOrEqual(REQUESTS);
    const neverSuccessful = operations
      .map(({ method, path }) => `${method} ${path}`)
      .filter((operation) => !successful.has(operation));
    // Chance may pass one by.
    expect(neverSuccessful.slice(1)).toEqual([]);
  },
  60_000 + 100 * REQUESTS,
);

function asRemark(complaint: string): string {
  return `# ${complaint.replaceAll('\n', '\n# ')}`;
}
