import { buffer } from 'node:stream/consumers';
import { readOpenApiDocument } from '@framelane/openapi-tools/document';
import { ResponseCheck } from '@framelane/openapi-tools/response-check';
import { BOUNDARY, formWith } from '@framelane/test-kit/multipart';
import { testSeed } from '@framelane/test-kit/random';
import { RawClient, type RawResponse } from '@framelane/test-kit/raw-upload-client';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { FakeTicket } from './support/fake-control-plane.ts';
import { ONLY_RECEIVES, startTestEngine, type TestEngine } from './support/test-engine.ts';
import { describeUpload, type UploadPlan, uploadPlans } from './support/upload-plans.ts';

/** Number of generated uploads. Each refused one is followed by a valid one, so more are sent. */
const UPLOADS = Number(process.env.PROPERTY_UPLOADS ?? 150);
/** Repeats a run: the printed seed generates the same uploads, and the path leads to the counterexample. */
const SEED = testSeed();
const PATH = process.env.PROPERTY_PATH ?? '';

const INTERNALS = /\n\s+at |node:internal|node_modules|\.[jt]s:\d+|ECONN|ENOENT/;
const SMALL_FILE = Buffer.from('a small file');
const VALID: UploadPlan = {
  token: 'own',
  contentType: `multipart/form-data; boundary=${BOUNDARY}`,
  chunked: false,
  pieceBytes: 65_536,
  body: formWith(SMALL_FILE),
  cutAt: undefined,
  file: SMALL_FILE,
};

const check = new ResponseCheck(readOpenApiDocument());
let engine: TestEngine;
beforeAll(async () => {
  engine = await startTestEngine({ env: ONLY_RECEIVES });
});
afterAll(() => engine.stop());

/** Sends an upload. Undefined if the client disconnects before the response. */
async function send(plan: UploadPlan, ticket: FakeTicket): Promise<RawResponse | undefined> {
  const { token, contentType, chunked, pieceBytes, body, cutAt } = plan;
  const client = await RawClient.connect(engine.port);
  const sent = body.subarray(0, cutAt);
  client.sendHead({
    ...(token !== undefined && { token: token === 'own' ? ticket.token : token.other }),
    length: chunked ? null : body.byteLength,
    headers: { 'Content-Type': contentType },
  });
  for (let at = 0; at < sent.byteLength; at += pieceBytes) {
    const piece = sent.subarray(at, at + pieceBytes);
    if (chunked) client.sendChunk(piece);
    else client.send(piece);
  }
  try {
    if (cutAt !== undefined) return undefined;
    if (chunked) client.sendChunk('');
    return await client.response();
  } finally {
    client.disconnect();
  }
}

function violationsOf({ status, headers, body }: RawResponse): string[] {
  const text = JSON.stringify(body);
  const response = { status, headers: Object.fromEntries(headers), body: Buffer.from(text) };
  return [
    ...(status >= 500 ? [`${status}: ${text}`] : []),
    ...(headers.has('x-request-id') ? [] : ['no X-Request-Id']),
    ...(INTERNALS.test(text) ? [`shows internals: ${text}`] : []),
    ...check.violations('/upload', 'post', response),
  ];
}

/** Exactly one file is registered for the ticket: the file of the form, if that is known. */
async function expectStored(ticket: FakeTicket, file: Buffer | undefined): Promise<void> {
  const { body } = await engine.objects.get(ticket.sources.at(-1) ?? '');
  const content = await buffer(body);
  if (file !== undefined) expect(content.equals(file)).toBe(true);
  const completions = engine.controlPlane.completions.filter(({ videoId }) => videoId === ticket.videoId);
  expect(completions.map(({ bytes }) => bytes)).toEqual([content.byteLength]);
}

/** A refused or interrupted upload leaves no file, and its ticket stays valid. */
async function expectAsBefore(ticket: FakeTicket): Promise<void> {
  // The upload of a disconnected client may still be in progress.
  const response = await until(async () => {
    const given = await send(VALID, ticket);
    return given?.status === 409 ? undefined : given;
  });
  expect(response).toMatchObject({ status: 202 });
  await expectStored(ticket, VALID.file);
  expect((await engine.storedFiles()).filter((file) => file.startsWith('.tmp'))).toEqual([]);
}

test(
  `${UPLOADS} valid and invalid forms are stored completely, or refused and not stored at all`,
  async () => {
    process.stdout.write(`Uploads: PROPERTY_SEED=${SEED} PROPERTY_UPLOADS=${UPLOADS}\n`);
    let accepted = 0;
    const property = fc.asyncProperty(uploadPlans(), async (plan) => {
      const ticket = engine.controlPlane.issue();
      const response = await send(plan, ticket);
      if (response !== undefined) expect(violationsOf(response)).toEqual([]);
      if (plan.file !== undefined) expect(response?.status).toBe(202);
      if (response?.status === 202) {
        accepted += 1;
        await expectStored(ticket, plan.file);
      } else {
        await expectAsBefore(ticket);
      }
    });
    const outcome = await fc.check(property, { seed: SEED, path: PATH, numRuns: UPLOADS });
    if (outcome.failed) {
      const replay = `PROPERTY_SEED=${SEED} PROPERTY_PATH=${outcome.counterexamplePath}`;
      const example = outcome.counterexample?.map(describeUpload).join('\n');
      throw new Error(`${replay}\n${example}`, { cause: outcome.errorInstance });
    }
    process.stdout.write(`Uploads: ${accepted} of ${UPLOADS} accepted\n`);
    expect((await fetch(`${engine.url}/readyz`)).status).toBe(200);
  },
  60_000 + 300 * UPLOADS,
);
