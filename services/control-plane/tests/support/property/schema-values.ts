import fc, { type Arbitrary } from 'fast-check';
import type { Schema } from './contract-operations.ts';
import { hostileJson, hostileText, PROTOTYPE_NAMES } from './hostile-values.ts';

/** Maximum properties and items of one value, where the schema has no limit. */
const MANY = 4;

/** A pattern that excludes only some characters. */
const EXCLUDES = /^\^\[\^[^\]]*\]\*\$$/;

/** Generates values from schemas. `urls` generates texts of the format `uri`. */
export class SchemaValues {
  readonly #urls: Arbitrary<string>;
  /** Texts by the pattern that they match: fast-check takes up to a second to analyse a pattern. */
  readonly #matching = new Map<string, Arbitrary<string>>();

  constructor({ urls }: { urls: Arbitrary<string> }) {
    this.#urls = urls;
  }

  /** Valid values. */
  valid(schema: Schema): Arbitrary<unknown> {
    const { allOf, anyOf, oneOf, ...rest } = schema;
    if (allOf) return this.valid(Object.assign({}, rest, ...allOf));
    const branches = anyOf ?? oneOf;
    if (branches) return fc.oneof(...branches.map((branch) => this.valid({ ...rest, ...branch })));
    if ('const' in schema) return fc.constant(schema.const);
    if (schema.enum) return fc.constantFrom(...schema.enum);
    if (Array.isArray(schema.type)) {
      return fc.oneof(...schema.type.map((type) => this.valid({ ...schema, type })));
    }
    switch (schema.type) {
      case 'null':
        return fc.constant(null);
      case 'boolean':
        return fc.boolean();
      case 'integer':
        return integer(schema);
      case 'number':
        return orExample(
          schema,
          fc.double({ min: schema.minimum ?? -1e9, max: schema.maximum ?? 1e9, noNaN: true }),
        );
      case 'string':
        return this.#text(schema);
      case 'array':
        return this.#array(schema);
      case 'object':
        return this.#object(schema);
      default:
        throw new Error(`No values for ${JSON.stringify(schema)}`);
    }
  }

  /** Values of which most are invalid: in one place, or because of their type. */
  invalid(schema: Schema): Arbitrary<unknown> {
    const options = [hostileJson(), ...edges(schema).map((value) => fc.constant(value))];
    if (schema.type === 'string') options.push(hostileText());
    if (schema.items) options.push(this.#invalidArray(schema.items));
    if (schema.type === 'object') options.push(this.#invalidObject(schema), this.#invalidObject(schema));
    return fc.oneof(...options);
  }

  #text({ format, pattern = '', minLength = 0, maxLength = 60, example }: Schema): Arbitrary<string> {
    if (format === 'uri') return this.#urls;
    if (format === 'date-time') return time();
    if (format === 'date') return time().map((text) => text.slice(0, 10));
    const rule = new RegExp(pattern, 'u');
    const text =
      pattern === '' || EXCLUDES.test(pattern)
        ? fc.oneof(
            {
              weight: 4,
              arbitrary: fc.string({ unit: 'grapheme', minLength, maxLength: Math.min(maxLength, 60) }),
            },
            {
              weight: 1,
              arbitrary: fc.constantFrom('x'.repeat(maxLength), ...PROTOTYPE_NAMES, '🎬', '\u202e'),
            },
          )
        : orExample({ example }, this.#textMatching(rule));
    const length = (value: string) => [...value].length;
    return text.filter(
      (value) => rule.test(value) && length(value) >= minLength && length(value) <= maxLength,
    );
  }

  #textMatching(rule: RegExp): Arbitrary<string> {
    const texts = this.#matching.get(rule.source) ?? fc.stringMatching(rule);
    this.#matching.set(rule.source, texts);
    return texts;
  }

  #array({ items = {}, minItems = 0, maxItems = MANY, uniqueItems = false }: Schema): Arbitrary<unknown[]> {
    const bounds = { minLength: minItems, maxLength: Math.min(maxItems, MANY) };
    return uniqueItems ? fc.uniqueArray(this.valid(items), bounds) : fc.array(this.valid(items), bounds);
  }

  #object(schema: Schema): Arbitrary<object> {
    const { required = [], properties = {}, propertyNames, additionalProperties } = schema;
    const entries = Object.entries(properties).map(([name, property]) => {
      const entry = this.valid(property).map((value): [string, unknown][] => [[name, value]]);
      return required.includes(name) ? entry : fc.oneof(fc.constant([]), entry);
    });
    const pair =
      typeof additionalProperties === 'object' &&
      fc.tuple(this.#text(propertyNames ?? {}), this.valid(additionalProperties));
    return fc
      .tuple(fc.tuple(...entries), pair ? fc.array(pair, { maxLength: MANY }) : fc.constant([]))
      .map(([known, more]) => Object.fromEntries([...known.flat(), ...more]));
  }

  #invalidArray(items: Schema): Arbitrary<unknown[]> {
    return fc.oneof(
      fc.array(this.valid(items), { minLength: MANY, maxLength: 120 }),
      this.valid(items).map((item) => [item, item]),
      this.invalid(items).map((item) => [item]),
    );
  }

  #invalidObject(schema: Schema): Arbitrary<object> {
    const names = [...Object.keys(schema.properties ?? {}), ...PROTOTYPE_NAMES, 'unknown'];
    const invalid = fc.constantFrom(...names).chain((name) => {
      const property = schema.properties?.[name];
      return fc.tuple(fc.constant(name), property ? this.invalid(property) : hostileJson());
    });
    return fc.oneof(
      // One property is invalid.
      fc
        .tuple(this.valid(schema), invalid)
        .map(([whole, [name, value]]) =>
          Object.fromEntries([...Object.entries(whole as object), [name, value]]),
        ),
      // One property is missing.
      fc
        .tuple(this.valid(schema), fc.nat())
        .map(([whole, nth]) =>
          Object.fromEntries(
            Object.entries(whole as object).filter((_, index, all) => index !== nth % all.length),
          ),
        ),
      fc.dictionary(hostileText(), hostileJson(), { maxKeys: MANY }),
    );
  }
}

/** Values, and often the example of the contract: few others have an effect. */
function orExample<T>({ example }: Schema, values: Arbitrary<T>): Arbitrary<T> {
  return example === undefined ? values : fc.oneof(values, fc.constant(example as T));
}

function integer({ minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Schema): Arbitrary<number> {
  return fc.oneof(fc.constantFrom(minimum, maximum), fc.integer({ min: minimum, max: maximum }));
}

/** Times of any offset and precision. */
function time(): Arbitrary<string> {
  const moment = fc.date({
    min: new Date('2000-01-02T00:00:00Z'),
    max: new Date('2999-12-30T00:00:00Z'),
    noInvalidDate: true,
  });
  const offset = fc.constantFrom('Z', 'Z', '+00:00', '-11:30', '+14:00');
  const fraction = fc.constantFrom('', '.0', '.123', '.999999999');
  return fc
    .tuple(moment, fraction, offset)
    .map(([date, part, zone]) => `${date.toISOString().slice(0, 19)}${part}${zone}`);
}

/** Values just outside the bounds of a schema, and values that a wrong check confuses with these. */
function edges({ minimum, maximum, minLength, maxLength }: Schema): unknown[] {
  return [
    ...(minimum === undefined ? [] : [minimum - 1, minimum + 0.5]),
    ...(maximum === undefined ? [] : [maximum + 1, String(maximum)]),
    ...(minLength === undefined || minLength === 0 ? [] : ['x'.repeat(minLength - 1)]),
    ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1), '🎬'.repeat(maxLength)]),
  ];
}
