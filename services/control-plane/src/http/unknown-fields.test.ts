import { expect, test } from '@jest/globals';
import { type BodySchema, unknownField, unknownFields, unknownParameters } from './unknown-fields.ts';

const CONTRACT = {
  components: {
    parameters: { Width: { in: 'query', name: 'width' } },
    schemas: {
      Text: { type: 'string' },
      Free: { additionalProperties: { type: 'string' } },
      Place: { additionalProperties: false, properties: { latitude: {}, longitude: {} } },
      Titled: { properties: { title: {} } },
    },
  },
};
const reference = (name: string): BodySchema => ({ $ref: `#/components/schemas/${name}` });
const SCHEMA: BodySchema = {
  additionalProperties: false,
  allOf: [reference('Titled')],
  properties: {
    playbackPolicy: reference('Text'),
    tags: { items: reference('Text') },
    metadata: reference('Free'),
    place: { oneOf: [reference('Place'), {}] },
    places: { items: reference('Place') },
  },
};

const find = (body: unknown) =>
  unknownFields(SCHEMA, body, CONTRACT).map(({ field, message }) => `${field} ${message}`);

test.each([
  ['playbackPolicyy', 'nearest known field: playbackPolicy'],
  ['playbackpolicy', 'nearest known field: playbackPolicy'],
  ['playback_policy', 'nearest known field: playbackPolicy'],
  ['plybckPolcy', 'nearest known field: playbackPolicy'],
  ['tag', 'nearest known field: tags'],
  ['titel', 'nearest known field: title'],
  ['xplace', 'nearest known field: place'],
  ['gatst', 'known fields: playbackPolicy, tags, metadata, place, places, title'],
  ['place s', 'nearest known field: places'],
  ['policy', 'known fields: playbackPolicy, tags, metadata, place, places, title'],
])('%s: %s', (name, hint) => {
  expect(find({ title: 'x', [name]: 1 })).toEqual([`body/${name} is unknown (${hint})`]);
});

test.each([
  ['no field', {}],
  ['known fields', { title: 'x', playbackPolicy: 'signed', tags: ['a'], places: [{ latitude: 1 }] }],
  ['any field of a free-form object', { metadata: { anything: { nested: 1 } } }],
  ['no object', [{ x: 1 }]],
  ['null', null],
])('%s: nothing is unknown', (_, body) => {
  expect(find(body)).toEqual([]);
});

test('nested objects are searched', () => {
  expect(find({ place: { lattitude: 1 }, places: [{}, { longitud: 1 }] })).toEqual([
    'body/place/lattitude is unknown (nearest known field: latitude)',
    'body/places/1/longitud is unknown (nearest known field: longitude)',
  ]);
});

test('names of JavaScript prototypes are unknown', () => {
  expect(find(JSON.parse('{"__proto__":{},"constructor":1,"toString":1}'))).toHaveLength(3);
});

test('a name is escaped as in a JSON pointer, and cut', () => {
  expect(find({ [`a/b~c${'x'.repeat(100)}`]: 1 })[0]).toMatch(/^body\/a~1b~0cx{59} is unknown/);
});

test('parameters of a query are compared, too', () => {
  const query = { width: '1', widht: '1', range: 'x', 'a[b]': ['x'] };
  const parameters = [{ $ref: '#/components/parameters/Width' }, { in: 'header', name: 'range' }];
  expect(unknownParameters({ parameters, others: ['token'] }, query, CONTRACT)).toEqual([
    {
      field: 'query/widht',
      code: 'additionalProperties',
      message: 'is unknown (nearest known field: width)',
    },
    ...['range', 'a[b]'].map((name) => ({
      field: `query/${name}`,
      code: 'additionalProperties',
      message: 'is unknown (known fields: width, token)',
    })),
  ]);
});

test('at most ten fields are named', () => {
  expect(find(Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`f${index}`, 1])))).toHaveLength(
    10,
  );
});

test('the problem names every field', () => {
  const errors = unknownFields({ additionalProperties: false }, { a: 1, b: 2 }, CONTRACT);
  expect(unknownField(errors)).toMatchObject({
    code: 'unknown_field',
    message:
      'The request is invalid: body/a is unknown (this request has no fields); body/b is unknown (this request has no fields).',
    options: { errors },
  });
});
