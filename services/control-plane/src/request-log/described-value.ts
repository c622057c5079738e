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

/** What the contract says about a value. Schemas are read once, where values need them. */
export class DescribedValue {
  /** The values of its enumerations and constants. */
  readonly known: ReadonlySet<unknown>;
  readonly isLogged: boolean;
  readonly isUri: boolean;
  readonly isTime: boolean;
  readonly isNumber: boolean;
  readonly #schemas: readonly Schema[];
  readonly #resolve: Resolve;
  readonly #members = new Map<string, DescribedValue>();
  #items: DescribedValue | null | undefined;

  constructor(described: readonly Schema[], resolve: Resolve) {
    const schemas = partsOf(described, resolve);
    this.#schemas = schemas;
    this.#resolve = resolve;
    this.known = new Set(schemas.flatMap((each) => [...(each.enum ?? []), each.const]));
    this.isLogged = schemas.some((each) => each['x-logged'] === true);
    this.isUri = schemas.some(({ format }) => format === 'uri');
    this.isTime = schemas.some(({ format }) => format === 'date-time' || format === 'date');
    this.isNumber = schemas.some(({ type }) => type === 'integer' || type === 'number');
  }

  /** A member of an object; undefined if the contract does not have it. */
  member(name: string): DescribedValue | undefined {
    const read = this.#members.get(name);
    if (read !== undefined) return read;
    const described = this.#schemas.flatMap(({ properties = {} }) =>
      Object.hasOwn(properties, name) ? (properties[name] ?? []) : [],
    );
    // Names that the contract does not have are the client's: they would fill the memory.
    if (described.length === 0) return undefined;
    const member = new DescribedValue(described, this.#resolve);
    this.#members.set(name, member);
    return member;
  }

  /** An item of an array; undefined if the contract does not describe it. */
  item(): DescribedValue | undefined {
    if (this.#items === undefined) {
      const described = this.#schemas.flatMap(({ items }) => items ?? []);
      this.#items = described.length === 0 ? null : new DescribedValue(described, this.#resolve);
    }
    return this.#items ?? undefined;
  }
}

/** The schemas and all that they consist of, without references, each once. */
function partsOf(described: readonly Schema[], resolve: Resolve): readonly Schema[] {
  const parts = new Set<Schema>();
  const add = (schema: Schema | undefined) => {
    if (schema === undefined || parts.has(schema)) return;
    parts.add(schema);
    if (schema.$ref !== undefined) add(resolve(schema.$ref));
    for (const part of [schema.allOf, schema.oneOf, schema.anyOf].flatMap((each) => each ?? [])) add(part);
  };
  for (const schema of described) add(schema);
  return [...parts];
}
