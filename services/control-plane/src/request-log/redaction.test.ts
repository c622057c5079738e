import { readOpenApiDocument } from '@framelane/openapi-tools/document';
import { describe, expect, test } from '@jest/globals';
import { resolver } from './described-operation.ts';
import type { Schema } from './described-value.ts';
import { Redaction } from './redaction.ts';

const contract = readOpenApiDocument() as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

type Content = { content?: Record<string, { schema?: Schema; example?: unknown; examples?: object }> };
type Operation = {
  operationId?: string;
  requestBody?: Content;
  responses?: Record<string, Content & { $ref?: string }>;
};

const resolve = resolver(contract);
const redaction = new Redaction(resolve);
const redact = (value: unknown, schema: Schema | undefined) => redaction.redact(value, schema);

/** A secret of each kind, which no stored body may contain. */
const SECRETS = [
  `svc_live_${'A'.repeat(43)}`,
  `whsec_${'B'.repeat(43)}=`,
  `ut_${'C'.repeat(32)}`,
  `eyJ${'D'.repeat(30)}.${'E'.repeat(30)}.${'F'.repeat(30)}`,
  `https://user:${'G'.repeat(20)}@media.example/${'H'.repeat(20)}?X-Amz-Signature=${'I'.repeat(20)}`,
];
const MARKS = /A{8}|B{8}|C{8}|D{8}|E{8}|F{8}|G{8}|H{8}|I{8}/;

/** The value with secrets instead of its texts, also in names of members. */
function withSecrets(value: unknown, secret: string): unknown {
  if (typeof value === 'string') return secret;
  if (Array.isArray(value)) return value.map((each) => withSecrets(each, secret));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, each]) => [name, withSecrets(each, secret)]);
  return { ...Object.fromEntries(members), [secret]: secret };
}

/** Each JSON body that the contract has an example of, with its schema. */
const EXAMPLES = Object.values(contract.paths).flatMap((item) =>
  Object.values(item).flatMap(({ operationId = '', requestBody, responses = {} }) =>
    [requestBody, ...Object.values(responses)].flatMap((described) => {
      if (described === undefined) return [];
      const { content = {} } = (
        (described as { $ref?: string }).$ref === undefined
          ? described
          : resolve((described as { $ref: string }).$ref)
      ) as Content;
      return Object.values(content).flatMap(({ schema, example, examples = {} }) => {
        const values = [example, ...Object.values(examples).map((each) => exampleOf(each))];
        return values.flatMap((value) =>
          typeof value === 'object' && schema !== undefined ? [{ operationId, schema, value }] : [],
        );
      });
    }),
  ),
);

function exampleOf(example: { $ref?: string; value?: unknown }): unknown {
  return example.$ref === undefined ? example.value : (resolve(example.$ref) as { value?: unknown })?.value;
}

test('the examples have bodies of most operations', () => {
  const operations = new Set(EXAMPLES.map(({ operationId }) => operationId));
  expect([...operations]).toEqual(
    expect.arrayContaining([
      'createApiKey',
      'createWebhook',
      'createUploadTicket',
      'importVideo',
      'createPlaybackToken',
    ]),
  );
  expect(operations.size).toBeGreaterThan(40);
});

test.each(SECRETS)('no body of any operation keeps %s', (secret) => {
  for (const { operationId, schema, value } of EXAMPLES) {
    const stored = JSON.stringify(redact(withSecrets(value, secret), schema));
    expect([operationId, MARKS.exec(stored)]).toEqual([operationId, null]);
  }
});

test('no text of an owner is kept', () => {
  const schema = { $ref: '#/components/schemas/VideoPatch' };
  const body = {
    title: 'Ann is ill',
    metadata: { 'name of Ann': 'ill' },
    tags: ['Ann'],
    playbackPolicy: 'signed',
  };
  expect(redact(body, schema)).toEqual({
    title: '[text, length 10]',
    metadata: { '[left out]': 1 },
    tags: ['[text, length 3]'],
    playbackPolicy: 'signed',
  });
});

test('a problem is kept, without secrets in it', () => {
  const body = { code: 'video_not_found', status: 404, detail: `There is no video ${SECRETS[0]}\0.` };
  expect(redact(body, { $ref: '#/components/schemas/Problem' })).toEqual({
    code: 'video_not_found',
    status: 404,
    detail: 'There is no video [secret]\uFFFD.',
  });
});

describe('values', () => {
  test.each([
    ['an id', 'vid_01m7y5g5zqfqetgq1je8rn7s3t', {}, 'vid_01m7y5g5zqfqetgq1je8rn7s3t'],
    ['a time', '2026-11-21T09:00:00.000Z', { format: 'date-time' }, '2026-11-21T09:00:00.000Z'],
    ['a day', '2026-11-21', { format: 'date' }, '2026-11-21'],
    ['a title that is a day', '1980-03-12', {}, '[text, length 10]'],
    ['a member of an enumeration', 'live', { enum: ['live', 'test'] }, 'live'],
    ['a constant', 'deleted', { const: 'deleted' }, 'deleted'],
    ['another text for an enumeration', 'Live', { enum: ['live', 'test'] }, '[text, length 4]'],
    ['a number in a query', '25', { type: 'integer' }, 25],
    ['digits that are a text', '4711', { type: 'string' }, '[text, length 4]'],
    ['a URL', 'https://a.example:444/b?c#d', { format: 'uri' }, 'https://a.example:444/…'],
    ['no URL', 'a', { format: 'uri' }, '[text, length 1]'],
    ['a URL without an origin', 'data:,secret', { format: 'uri' }, '[text, length 12]'],
    ['a long URL', `https://a.example/${'b'.repeat(3000)}`, { format: 'uri' }, '[text, length 3018]'],
    ['a number', 5, {}, 5],
    ['nothing', null, {}, null],
    ['a truth', true, {}, true],
  ])('%s', (_name, value, schema, kept) => expect(redact(value, schema)).toBe(kept));

  test('what the contract does not describe is left out', () => {
    expect(redact({ a: { b: 'c' }, d: [1], e: 2 }, { properties: { a: {} } })).toEqual({
      a: { '[left out]': 1 },
      '[left out]': 2,
    });
    expect(redact({ a: 1 }, undefined)).toBe('[left out]');
    expect(redact([5], {})).toEqual(['[left out]']);
  });

  test('names of Object.prototype are no descriptions', () => {
    const body = JSON.parse('{"constructor": {"a": "b"}, "__proto__": {"a": "b"}}');
    expect(redact(body, { properties: {} })).toEqual({ '[left out]': 2 });
  });

  test('a schema that contains itself', () => {
    const schema: Schema = { properties: { kind: { enum: ['a'] } } };
    schema.properties = { ...schema.properties, child: schema };
    schema.allOf = [schema];
    expect(redact({ kind: 'a', child: { kind: 'a' } }, schema)).toEqual({ kind: 'a', child: { kind: 'a' } });
  });
});

test('a long body is cut, visibly, without reading the rest', () => {
  const schema: Schema = { items: { properties: { n: { type: 'integer' } } } };
  let read = 0;
  const items = Array.from({ length: 100_000 }, () => ({
    get n() {
      read += 1;
      return 123_456;
    },
  }));
  const stored = redact(items, schema) as unknown[];
  expect(stored.at(-1)).toBe('[truncated]');
  expect(JSON.stringify(stored).length).toBeLessThan(20_000);
  expect(read).toBe(stored.length - 1);
  const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`a${index}`, index]));
  const properties = Object.fromEntries(Object.keys(wide).map((name) => [name, { type: 'integer' }]));
  const cut = redact(wide, { properties }) as object;
  expect(Object.entries(cut).at(-1)).toEqual(['[truncated]', true]);
  expect(JSON.stringify(cut).length).toBeLessThan(20_000);
});
