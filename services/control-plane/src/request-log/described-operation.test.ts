import { expect, test } from '@jest/globals';
import type { Request } from 'express';
import { describedOperations, resolver } from './described-operation.ts';

const A = { type: 'string' };
const contract = {
  components: {
    parameters: { Limit: { in: 'query', name: 'limit', schema: { type: 'integer' } } },
    responses: { Bad: { content: { 'application/problem+json': { schema: A } } } },
    schemas: { 'a/b': A },
  },
};
const operation = {
  parameters: [
    { $ref: '#/components/parameters/Limit' },
    { in: 'path', name: 'id', schema: A },
    { in: 'query', name: 'q', schema: A },
  ],
  requestBody: { content: { 'application/json': { schema: A } } },
  responses: { 200: { content: { 'text/csv': { schema: A } } }, 400: { $ref: '#/components/responses/Bad' } },
};
const operations = describedOperations(resolver(contract));
const describe = (schema: object | undefined) => operations({ openapi: { schema } } as unknown as Request);

test('what an operation describes', () => {
  const described = describe(operation);
  expect(described.query).toEqual({ properties: { limit: { type: 'integer' }, q: A } });
  expect(described.requestBody()).toBe(A);
  expect(described.responseBody(400)).toBe(A);
});

test('what it does not describe', () => {
  expect(describe(operation).responseBody(200)).toBeUndefined();
  expect(describe(operation).responseBody(500)).toBeUndefined();
  const empty = describe(undefined);
  expect([empty.query, empty.requestBody()]).toEqual([{ properties: {} }, undefined]);
  expect(describe({ requestBody: null }).requestBody()).toBeUndefined();
});

test('an operation is read once', () => {
  expect(describe(operation)).toBe(describe(operation));
  expect(operations({} as Request).query).toEqual({ properties: {} });
});

test('references', () => {
  const resolve = resolver(contract);
  expect(resolve('#/components/schemas/a~1b')).toBe(A);
  expect(resolve('#/components/nothing/here')).toBeUndefined();
});
