import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOpenApiDocument } from '@framelane/openapi/document';
import { Problem } from '@framelane/service-kit/problem';
import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../../..');

/** Codes that no answer of an operation carries. */
const OF_NO_OPERATION = [
  // Of a path that does not exist; the description of the errors tells of it.
  'route_not_found',
  // Of an upload whose client has gone: it stands in the log.
  'upload_interrupted',
  // Of the internal API.
  'attempt_not_claimable',
  'invalid_service_secret',
];

type ShownProblem = {
  type: string;
  status: number;
  code: string;
  detail: string;
  instance: string;
  requestId: string;
};

/** Every problem that the contract shows as an example. */
function shownProblems(value: unknown = readOpenApiDocument()): ShownProblem[] {
  if (typeof value !== 'object' || value === null) return [];
  const { type } = value as { type?: unknown };
  if (typeof type === 'string' && type.startsWith('urn:')) return [value as ShownProblem];
  return Object.values(value).flatMap(shownProblems);
}

/** Codes of the problems that the services make, as they stand in the sources. */
function codesInSources(): string[] {
  const folders = ['services/control-plane/src', 'services/engine/src', 'packages/service-kit/src'];
  const text = folders.map(sourcesBelow).join('\n');
  return [...text.matchAll(/(?:new Problem\(\s*\d{3},|unauthorized\()\s*'(\w+)'/g)].map(
    ([, code = '']) => code,
  );
}

function sourcesBelow(folder: string): string {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(ROOT, folder, name), 'utf8'))
    .join('\n');
}

test('every problem there is, is shown in the contract, and no other', () => {
  const shown = new Set(shownProblems().map(({ code }) => code));
  const made = new Set(codesInSources().filter((code) => !OF_NO_OPERATION.includes(code)));
  expect([...shown].sort()).toEqual([...made].sort());
});

test.each(shownProblems())('$code looks in the contract as it does on the wire', (shown) => {
  const problem = new Problem(shown.status, shown.code, shown.detail);
  expect(shown).toMatchObject(problem.toBody({ id: shown.requestId, path: shown.instance }));
});
