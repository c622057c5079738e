import { expect, test } from '@jest/globals';
import { loggedProblem, namesIn } from './logged-problem.ts';

const names = namesIn({
  parameters: [{ in: 'header', name: 'X-Svc-Workspace' }, { in: 'query', name: 'limit' }, { $ref: '#' }],
  schemas: { Video: { properties: { tags: { items: {} }, metadata: { title: 'no name' }, nothing: null } } },
  info: { name: 'Ann' },
});

test('the names of the contract', () => {
  expect([...names].toSorted()).toEqual(['limit', 'metadata', 'nothing', 'tags', 'x-svc-workspace']);
});

test.each([
  ['body', 'body'],
  ['query/limit', 'query/limit'],
  ['headers/X-Svc-Workspace', 'headers/X-Svc-Workspace'],
  ['body/tags/12', 'body/tags/12'],
  ['body/metadata/Ann', 'body/metadata/[left out]'],
  ['body/metadata/Ann/ill', 'body/metadata/[left out]/[left out]'],
  ['body/metadata/07700900123', 'body/metadata/[left out]'],
])('the field %s is stored as %s', (field, stored) => {
  const problem = { status: 400, detail: `${field} is wrong`, errors: [{ field, code: 'a', message: 'b' }] };
  expect(loggedProblem(problem, names)).toEqual({
    status: 400,
    detail: 'The request is invalid: see errors.',
    errors: [{ field: stored, code: 'a', message: 'b' }],
  });
});

test('a problem without errors in the input stays as it is', () => {
  const problem = { detail: 'There is no video vid_1 in this workspace.' };
  expect(loggedProblem(problem, names)).toBe(problem);
});
