import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROBLEMS, type ProblemCode } from '@framelane/contracts/problem-codes';
import { readOpenApiDocument } from '@framelane/openapi-tools/document';
import { Problem } from '@framelane/service-kit/problem';
import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../../..');

/** The address that the contract has for an installation. */
const PUBLIC_URL = 'http://localhost:8080';

/** Codes that no documented response of an operation has. */
const OF_NO_OPERATION: readonly string[] = [
  // The path does not exist, so only the description of the API lists the code.
  'route_not_found',
  // The client has disconnected; only the log has the code.
  'upload_interrupted',
  // A response to HEAD has no body.
  'upload_locked',
  // The internal API.
  'plan_not_current',
  'task_not_claimable',
  'invalid_service_secret',
  'transfer_lost',
];

/** Codes of the upload operations. The table in the description omits them. */
const OF_UPLOADS =
  /^(upload_(?!ticket_)|file_(?!too_large)|checksum_|tus_|too_many_uploads|malformed_|multiple_files|insufficient_storage)/;

type ShownProblem = {
  type: string;
  code: ProblemCode;
  detail: string;
  instance: string;
  requestId: string;
};

/** Every problem that the contract shows as an example. */
function shownProblems(value: unknown = readOpenApiDocument()): ShownProblem[] {
  if (typeof value !== 'object' || value === null) return [];
  const { type } = value as { type?: unknown };
  if (typeof type === 'string' && type.startsWith(`${PUBLIC_URL}/docs/errors/`))
    return [value as ShownProblem];
  return Object.values(value).flatMap(shownProblems);
}

function sourcesBelow(folder: string): string {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(ROOT, folder, name), 'utf8'))
    .join('\n');
}

const codes = Object.keys(PROBLEMS);

test('the contract shows an example of every problem, and of no other', () => {
  const shown = new Set(shownProblems().map(({ code }) => code));
  expect([...shown].sort()).toEqual(codes.filter((code) => !OF_NO_OPERATION.includes(code)).sort());
});

test('the description of the API lists the problems by status', () => {
  const { info } = readOpenApiDocument() as { info: { description: string } };
  const listed = [...info.description.matchAll(/^\| (\d{3}) \| (.*) \|$/gm)].flatMap(
    ([, status, list = '']) => [...list.matchAll(/`(\w+)`/g)].map(([, code = '']) => [code, Number(status)]),
  );
  const expected = Object.entries(PROBLEMS)
    .filter(([code]) => code === 'route_not_found' || !OF_NO_OPERATION.includes(code))
    .filter(([code]) => !OF_UPLOADS.test(code))
    .map(([code, { status }]) => [code, status]);
  expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(expected));
});

test('the services use every code of the catalogue', () => {
  const text = ['services/control-plane/src', 'services/engine/src', 'packages/service-kit/src']
    .map(sourcesBelow)
    .join('\n');
  expect(codes.filter((code) => !text.includes(`'${code}'`))).toEqual([]);
});

test.each(shownProblems())(
  'the example of $code has the type, title and status that the services send',
  (shown) => {
    const problem = new Problem(shown.code, shown.detail);
    expect(shown).toMatchObject(problem.toBody({ id: shown.requestId, path: shown.instance }, PUBLIC_URL));
  },
);
