import { isTypeId, originOf, scrubbed } from './shown-text.ts';

/** The parts of a JSON Schema that the redaction reads. */
export type Schema = {
  $ref?: string;
  type?: string | readonly string[];
  format?: string;
  enum?: readonly unknown[];
  const?: unknown;
  properties?: Record<string, Schema>;
  items?: Schema;
  allOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  anyOf?: readonly Schema[];
  /** A text of the service itself: it is stored. */
  'x-logged'?: boolean;
};

/** Resolves the `$ref` of a schema. */
export type Resolve = (ref: string) => Schema | undefined;

/** Characters of the JSON of a stored body, about. */
const BODY_CHARACTERS = 16_384;

const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d))?$/;

/**
 * Copies values so that they can be stored (ADR 100): nothing of them is kept unless the contract describes it and its kind is known to be
 * harmless. So a field that nobody has thought of is left out, rather than stored.
 */
export class Redaction {
  readonly #resolve: Resolve;
  readonly #alternatives = new WeakMap<Schema, readonly Schema[]>();

  constructor(resolve: Resolve) {
    this.#resolve = resolve;
  }

  /** The copy of a value. It has a bounded size, and reading a large value ends where the copy does. */
  redact(value: unknown, schema: Schema | undefined): unknown {
    return this.#copy(value, schema === undefined ? [] : [schema], { left: BODY_CHARACTERS });
  }

  #copy(value: unknown, described: readonly Schema[], budget: { left: number }): unknown {
    budget.left -= 4;
    if (value === null || typeof value === 'boolean') return value;
    const schemas = described.flatMap((schema) => this.#flat(schema));
    if (schemas.length === 0) return spent(budget, '[left out]');
    if (typeof value === 'number') return spent(budget, value);
    if (typeof value === 'string') return spent(budget, textOf(value, schemas));
    if (Array.isArray(value)) return this.#copyItems(value, schemas, budget);
    if (typeof value === 'object') return this.#copyMembers(value, schemas, budget);
    return spent(budget, '[left out]');
  }

  #copyItems(values: readonly unknown[], schemas: readonly Schema[], budget: { left: number }): unknown[] {
    const items = schemas.flatMap(({ items }) => items ?? []);
    const copy: unknown[] = [];
    for (const value of values) {
      if (budget.left <= 0) return [...copy, '[truncated]'];
      copy.push(this.#copy(value, items, budget));
    }
    return copy;
  }

  /** Names of members that the contract does not know, such as those of metadata, can be personal, too. Their number remains. */
  #copyMembers(value: object, schemas: readonly Schema[], budget: { left: number }): Record<string, unknown> {
    const copy: Record<string, unknown> = {};
    let leftOut = 0;
    for (const name in value) {
      if (!Object.hasOwn(value, name)) continue;
      const described = schemas.flatMap(({ properties = {} }) =>
        Object.hasOwn(properties, name) ? (properties[name] ?? []) : [],
      );
      if (described.length === 0) {
        leftOut += 1;
        continue;
      }
      if (budget.left <= 0) return { ...copy, '[truncated]': true };
      budget.left -= name.length;
      copy[name] = this.#copy(value[name as keyof typeof value], described, budget);
    }
    return leftOut === 0 ? copy : { ...copy, '[left out]': leftOut };
  }

  /** The schema and all that it consists of, without references. */
  #flat(schema: Schema): readonly Schema[] {
    const known = this.#alternatives.get(schema);
    if (known !== undefined) return known;
    // A schema that contains itself ends here.
    this.#alternatives.set(schema, []);
    const { $ref, allOf = [], oneOf = [], anyOf = [] } = schema;
    const referenced = $ref === undefined ? undefined : this.#resolve($ref);
    const parts = [...allOf, ...oneOf, ...anyOf, ...(referenced === undefined ? [] : [referenced])];
    const flat = [schema, ...parts.flatMap((part) => this.#flat(part))];
    this.#alternatives.set(schema, flat);
    return flat;
  }
}

function spent<T extends string | number>(budget: { left: number }, value: T): T {
  budget.left -= String(value).length;
  return value;
}

/** What is stored of a text. */
function textOf(value: string, schemas: readonly Schema[]): string | number {
  if (schemas.some((schema) => schema.const === value || schema.enum?.includes(value))) return value;
  if (isTypeId(value) || TIME.test(value)) return value;
  if (schemas.some((schema) => schema['x-logged'] === true)) return scrubbed(value, 500);
  // Numbers in a query are texts until they are validated.
  if (/^-?\d{1,15}$/.test(value) && schemas.some(isNumber)) return Number(value);
  // The path of a URL can be a secret, too: those of some chat services are.
  const origin = schemas.some(({ format }) => format === 'uri') ? originOf(value) : undefined;
  return origin ?? `[text, length ${value.length}]`;
}

function isNumber({ type }: Schema): boolean {
  return type === 'integer' || type === 'number';
}
