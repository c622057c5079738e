import { jpegOf } from '@framelane/test-kit/jpeg';
import { pngOf } from '@framelane/test-kit/png';
import fc, { type Arbitrary } from 'fast-check';
import type { ContractOperation, Parameter } from './contract-operations.ts';
import { hostileBody, hostileHeader, hostileQuery, hostileSegment } from './hostile-values.ts';
import type { SchemaValues } from './schema-values.ts';

/** Values of responses that later requests use. The first eight are prefixes of ids. */
export const KINDS = [
  'vid',
  'key',
  'whk',
  'dlv',
  'wmk',
  'log',
  'ws',
  'evt',
  'cursor',
  'token',
  'etag',
  'secret',
  'embed',
] as const;
export type Kind = (typeof KINDS)[number];

/**
 * A text, or a placeholder. When the request is sent, the placeholder becomes the known value of its kind with the index `nth`, modulo
 * the number of known values.
 */
export type Part = string | { known: Kind; nth: number };

/** A request whose ids can be placeholders. */
export type RequestPlan = {
  operation: ContractOperation;
  method: string;
  /** Values of the path parameters, encoded. */
  path: Record<string, Part>;
  /** Pairs with unencoded values, or the raw query. */
  query: [name: string, value: Part][] | string;
  headers: [name: string, value: Part][];
  body: { type: string; encoding?: string; bytes: Buffer } | undefined;
};

/** Where a request violates the contract. */
type Flaw = 'path' | 'query' | 'headers' | 'credentials' | 'body' | 'method';

/** One step: a request, or an upload with a transcode. */
export type Step =
  | { kind: 'request'; plan: RequestPlan }
  | { kind: 'engine'; outcome: 'uploaded' | 'ready' | 'failed'; nth: number };

/** Texts for parameters whose schema is less strict than the RFC, or that have few useful values. */
const BY_NAME: Record<string, Arbitrary<Part>> = {
  cursor: known('cursor'),
  token: known('token'),
  // That of oEmbed.
  url: known('embed'),
  format: fc.constantFrom<Part>('json', 'json', 'json', 'xml'),
  'Idempotency-Key': fc.nat({ max: 30 }).map(String),
  'If-None-Match': fc.oneof(known('etag'), fc.constantFrom<Part>('*', 'W/"x"', '"x"')),
  'If-Range': fc.oneof(known('etag'), fc.constant<Part>('"x"')),
  Range: fc.constantFrom<Part>(
    'bytes=0-9',
    'bytes=5-',
    'bytes=-5',
    'bytes=0-0,2-3',
    'bytes=99999-',
    'bytes=9-1',
  ),
  rendition: fc.constantFrom<Part>('360p', 'audio', '360p', 'audio', '1080p'),
  sequence: fc.constantFrom<Part>('0', '1', '0', '1', '999999'),
  language: fc.constantFrom<Part>('en', 'en', 'en', 'de', 'EN', 'pt-BR', 'english', 'en_US', 'e'),
  revision: fc.constantFrom<Part>('1', '1', '2', '999999'),
};

/** Sequences of steps. Half of the requests are valid, most others violate the contract in one place. */
export function stepSequences(operations: ContractOperation[], values: SchemaValues): Arbitrary<Step[]> {
  const request = fc
    .constantFrom(...operations)
    .chain((operation) => requestPlan(operation, values))
    .map((plan): Step => ({ kind: 'request', plan }));
  const engine = fc
    .record({ outcome: fc.constantFrom('uploaded', 'ready', 'failed'), nth: fc.nat({ max: 9 }) })
    .map((act): Step => ({ kind: 'engine', ...act }));
  const step = fc.oneof({ weight: 30, arbitrary: request }, { weight: 2, arbitrary: engine });
  return fc.array(step, { minLength: 1, maxLength: 100, size: 'max' });
}

function requestPlan(operation: ContractOperation, values: SchemaValues): Arbitrary<RequestPlan> {
  return flawsOf(operation).chain((flaws) => {
    const has = (flaw: Flaw) => flaws.includes(flaw);
    return fc.record({
      operation: fc.constant(operation),
      method: has('method') ? anotherMethod() : methodOf(operation),
      path: pathValues(operation, values, has('path')),
      query: has('query') ? queryFlaws(operation, values) : queryPairs(operation, values),
      headers: fc
        .tuple(headerPairs(operation, values, has('headers')), credentials(operation, has('credentials')))
        .map((groups) => groups.flat()),
      body: bodies(operation, values, has('body')),
    });
  });
}

function flawsOf({ parameters, body, fileTypes, takesKey }: ContractOperation): Arbitrary<Flaw[]> {
  const possible: Flaw[] = [
    'query',
    'headers',
    'method',
    ...(parameters.some((parameter) => parameter.in === 'path') ? (['path'] as const) : []),
    ...(takesKey ? (['credentials'] as const) : []),
    // Bodies have the most ways to be invalid.
    ...(body || fileTypes.length > 0 ? (['body', 'body', 'body', 'body'] as const) : (['body'] as const)),
  ];
  return fc.oneof(
    { weight: 10, arbitrary: fc.constant<Flaw[]>([]) },
    { weight: 8, arbitrary: fc.constantFrom(...possible).map((flaw) => [flaw]) },
    { weight: 1, arbitrary: fc.subarray(possible) },
  );
}

/** Every `GET` supports `HEAD`. */
function methodOf({ method }: ContractOperation): Arbitrary<string> {
  return method === 'get'
    ? fc.oneof({ weight: 9, arbitrary: fc.constant('get') }, { weight: 1, arbitrary: fc.constant('head') })
    : fc.constant(method);
}

function anotherMethod(): Arbitrary<string> {
  return fc.constantFrom('get', 'head', 'post', 'put', 'patch', 'delete', 'options', 'trace', 'propfind');
}

function pathValues(
  { parameters }: ContractOperation,
  values: SchemaValues,
  flawed: boolean,
): Arbitrary<Record<string, Part>> {
  const entries = parameters
    .filter((parameter) => parameter.in === 'path')
    .map((parameter): [string, Arbitrary<Part>] => {
      const valid = validPart(parameter, values).map((part) =>
        typeof part === 'string' ? encodeURIComponent(part) : part,
      );
      const hostile: Arbitrary<Part> = fc.oneof(hostileSegment(), fc.constantFrom(...KINDS).chain(known));
      return [parameter.name, flawed ? fc.oneof(hostile, valid) : valid];
    });
  return fc.record(Object.fromEntries(entries));
}

function queryPairs(
  operation: ContractOperation,
  values: SchemaValues,
): Arbitrary<[name: string, value: Part][]> {
  const pairs = operation.parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ schema, ...parameter }) => {
      const one =
        schema.type === 'array' ? { ...parameter, schema: schema.items ?? {} } : { ...parameter, schema };
      const pair = validPart(one, values).map((value): [string, Part] => [parameter.name, value]);
      return fc.array(pair, { maxLength: schema.type === 'array' ? 3 : 1 });
    });
  return fc.tuple(...pairs).map((lists) => lists.flat());
}

function queryFlaws(operation: ContractOperation, values: SchemaValues): Arbitrary<RequestPlan['query']> {
  const parameters = operation.parameters.filter((parameter) => parameter.in === 'query');
  const raw = hostileQuery(parameters.map(({ name }) => name));
  if (parameters.length === 0) return raw;
  const invalid = fc
    .constantFrom(...parameters)
    .chain(({ name, schema }) =>
      values.invalid(schema).map((value): [string, Part][] => [[name, asText(value)]]),
    );
  return fc.oneof(raw, invalid);
}

function headerPairs(
  { parameters }: ContractOperation,
  values: SchemaValues,
  flawed: boolean,
): Arbitrary<[name: string, value: Part][]> {
  const documented = parameters.filter(
    ({ in: place, name }) => place === 'header' && name !== WORKSPACE && name !== ENVIRONMENT,
  );
  const pairs = documented.map((parameter) =>
    fc.array(
      validPart(parameter, values).map((value): [string, Part] => [parameter.name, value]),
      { maxLength: 1 },
    ),
  );
  const valid = fc.tuple(...pairs).map((lists) => lists.flat());
  if (!flawed) return valid;
  const names = [
    ...documented.map(({ name }) => name),
    'X-Request-Id',
    'Accept',
    'Accept-Encoding',
    'Expect-Not',
  ];
  const hostile = fc.tuple(fc.constantFrom(...names), hostileHeader());
  return fc.tuple(valid, fc.array(hostile, { minLength: 1, maxLength: 3 })).map((lists) => lists.flat());
}

const WORKSPACE = 'X-Svc-Workspace';
/** Sessions choose it; a key has one. */
const ENVIRONMENT = 'X-Framelane-Environment';

function credentials(
  { takesKey, parameters }: ContractOperation,
  flawed: boolean,
): Arbitrary<[name: string, value: Part][]> {
  const own: [string, Part][] = [
    ['Authorization', { known: 'secret', nth: 0 }],
    [WORKSPACE, { known: 'ws', nth: 0 }],
  ];
  const optional = !parameters.some(({ name }) => name === WORKSPACE);
  if (!takesKey) return fc.constant([]);
  if (!flawed) return optional ? fc.constantFrom([], own) : fc.constant(own);
  const secret: Arbitrary<Part> = fc.oneof(known('secret'), hostileHeader());
  const workspace: Arbitrary<Part> = fc.oneof(known('ws'), hostileHeader());
  return fc
    .tuple(fc.option(secret), fc.option(workspace))
    .map(([key, id]) => [
      ...(key === null ? [] : [['Authorization', key] satisfies [string, Part]]),
      ...(id === null ? [] : [[WORKSPACE, id] satisfies [string, Part]]),
    ]);
}

function bodies(
  { body, fileTypes }: ContractOperation,
  values: SchemaValues,
  flawed: boolean,
): Arbitrary<RequestPlan['body']> {
  if (fileTypes.length > 0) {
    const file = fc
      .constantFrom(...fileTypes)
      .chain((type) => fc.record({ type: fc.constant(type), bytes: fileOf(type) }));
    const wrong = fc.record({ type: fc.constantFrom(...fileTypes), bytes: anyBytes() });
    return flawed ? fc.oneof(file, wrong, hostileBody()) : file;
  }
  if (!body) return flawed ? hostileBody() : fc.constant(undefined);
  const json = (value: Arbitrary<unknown>) =>
    value.map((content) => ({ type: 'application/json', bytes: Buffer.from(JSON.stringify(content)) }));
  if (flawed) {
    return fc.oneof(
      { weight: 3, arbitrary: json(values.invalid(body.schema)) },
      { weight: 1, arbitrary: hostileBody() },
    );
  }
  const valid = json(values.valid(body.schema));
  return body.required ? valid : fc.option(valid, { nil: undefined });
}

/** A file that can be read both as WebVTT and as SubRip, except for its first line. */
function captionsFile(): Arbitrary<Buffer> {
  const header = fc.constantFrom('WEBVTT\n\n', '');
  return fc
    .tuple(header, fc.string({ unit: 'grapheme' }))
    .map(([begin, text]) => Buffer.from(`${begin}1\n00:00:01.000 --> 00:00:09.000\nA${text}\n`));
}

function fileOf(type: string): Arbitrary<Buffer> {
  if (!type.startsWith('image/')) return captionsFile();
  const pixels = fc.integer({ min: 1, max: 4096 });
  return fc
    .tuple(pixels, pixels)
    .map(([width, height]) =>
      type === 'image/png' ? pngOf(width % 64, height % 64) : jpegOf(width, height),
    );
}

function anyBytes(): Arbitrary<Buffer> {
  return fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
}

/** An index of a known value; low ones more often, because every workspace has them. */
function known(kind: Kind): Arbitrary<Part> {
  const nth = fc.oneof(fc.constant(0), fc.nat({ max: kind === 'ws' ? 0 : 3 }), fc.nat({ max: 12 }));
  return nth.map((value) => ({ known: kind, nth: value }));
}

function validPart({ name, schema, example }: Parameter, values: SchemaValues): Arbitrary<Part> {
  const special = BY_NAME[name];
  if (special) return special;
  const prefix = String(example).split('_')[0];
  const kind = KINDS.find((each) => each === prefix && String(example).includes('_'));
  return kind ? known(kind) : values.valid(schema).map(asText);
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
