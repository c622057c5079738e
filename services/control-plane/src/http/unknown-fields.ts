import { nearestName } from '@framelane/service-kit/nearest-name';
import { type FieldError, Problem } from '@framelane/service-kit/problem';

/** The part of JSON Schema that says which fields an object can have. */
export type BodySchema = {
  $ref?: string;
  properties?: Record<string, BodySchema>;
  additionalProperties?: unknown;
  items?: BodySchema;
  allOf?: BodySchema[];
  anyOf?: BodySchema[];
  oneOf?: BodySchema[];
};

/** A parameter of an operation, or a reference to one. */
export type Parameter = { $ref?: string; in?: string; name?: string };

/** A response names at most this many unknown fields. */
const MAX_NAMED = 10;
/** Longer names are cut in responses. */
const MAX_NAME = 64;

/**
 * The fields of a body that the contract does not know, with the nearest known field of each. `contract` resolves the references of
 * `schema`. Objects with `additionalProperties` other than `false` take any field.
 */
export function unknownFields(schema: BodySchema, body: unknown, contract: object): FieldError[] {
  return fieldErrors(schema, body, 'body', contract);
}

function fieldErrors(schema: BodySchema, value: unknown, path: string, contract: object): FieldError[] {
  const found: FieldError[] = [];
  for (const error of search(schema, value, path, contract)) {
    found.push(error);
    // A body can have thousands of them.
    if (found.length === MAX_NAMED) break;
  }
  return found;
}

/** The same for a query: `parameters` are those of the operation, and `others` the names of the other ones that it accepts. */
export function unknownParameters(
  { parameters, others }: { parameters: readonly Parameter[]; others: readonly string[] },
  query: object,
  contract: object,
): FieldError[] {
  const resolved = parameters.map((each) => (each.$ref === undefined ? each : resolve(each.$ref, contract)));
  const own = resolved.flatMap(({ in: place, name }) => (place === 'query' && name ? [name] : []));
  const properties = Object.fromEntries([...own, ...others].map((name) => [name, {}]));
  return fieldErrors({ properties, additionalProperties: false }, query, 'query', contract);
}

/** The response to a request with unknown fields. */
export function unknownField(errors: readonly FieldError[]): Problem {
  const summary = errors.map(({ field, message }) => `${field} ${message}`).join('; ');
  return new Problem('unknown_field', `The request is invalid: ${summary}.`, { errors });
}

function* search(schema: BodySchema, value: unknown, path: string, contract: object): Generator<FieldError> {
  if (typeof value !== 'object' || value === null) return;
  const forms = formsOf(schema, contract);
  if (Array.isArray(value)) {
    const items = forms.find((form) => form.items !== undefined)?.items ?? {};
    for (const [index, item] of value.entries()) yield* search(items, item, `${path}/${index}`, contract);
    return;
  }
  const known = new Map(forms.flatMap(({ properties }) => Object.entries(properties ?? {})));
  const closed = forms.some(({ additionalProperties }) => additionalProperties === false);
  for (const [name, member] of Object.entries(value)) {
    const field = `${path}/${name.slice(0, MAX_NAME).replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const schemaOfMember = known.get(name);
    if (schemaOfMember !== undefined) yield* search(schemaOfMember, member, field, contract);
    else if (closed) yield toError(field, name, [...known.keys()]);
  }
}

/** The schema and its alternatives, without references. */
function formsOf(schema: BodySchema, contract: object): BodySchema[] {
  const { $ref: reference, allOf = [], anyOf = [], oneOf = [] } = schema;
  if (reference !== undefined) return formsOf(resolve(reference, contract), contract);
  return [schema, ...[...allOf, ...anyOf, ...oneOf].flatMap((form) => formsOf(form, contract))];
}

/** Resolves a reference such as `#/components/schemas/Tags`. */
function resolve(reference: string, contract: object): BodySchema & Parameter {
  const names = reference.replace(/^#\//, '').split('/');
  return names.reduce<unknown>(
    (found, name) => (found as Record<string, unknown>)[name],
    contract,
  ) as BodySchema & Parameter;
}

function toError(field: string, name: string, known: string[]): FieldError {
  return { field, code: 'additionalProperties', message: `is unknown (${hint(name, known)})` };
}

function hint(name: string, known: string[]): string {
  if (known.length === 0) return 'this request has no fields';
  const nearest = nearestName(name, known);
  return nearest === undefined ? `known fields: ${known.join(', ')}` : `nearest known field: ${nearest}`;
}
