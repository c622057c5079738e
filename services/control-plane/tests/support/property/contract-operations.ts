/** The part of JSON Schema that the contract uses for requests. */
export type Schema = {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  uniqueItems?: boolean;
  items?: Schema;
  required?: string[];
  properties?: Record<string, Schema>;
  propertyNames?: Schema;
  additionalProperties?: Schema | boolean;
  example?: unknown;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
};

export type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: Schema;
  /** If it is an id, its prefix states which kind of id the parameter is. */
  example?: unknown;
};

/** One operation of the contract, without references. */
export type ContractOperation = {
  /** As in the document, e.g. `/videos/{id}`. */
  path: string;
  method: Method;
  parameters: Parameter[];
  /** The schema of its JSON body; undefined without one. */
  body: { schema: Schema; required: boolean } | undefined;
  /** The types of a body that is a file; empty without one. */
  fileTypes: string[];
  /** Whether it accepts an API key. */
  takesKey: boolean;
};

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
type Method = (typeof METHODS)[number];

type RawOperation = {
  'x-served-by'?: string;
  parameters?: Parameter[];
  security?: Record<string, string[]>[];
  requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> };
};
type RawPathItem = { parameters?: Parameter[] } & { [method in Method]?: RawOperation };
type RawDocument = { paths: Record<string, RawPathItem> };

/** Every operation of a published OpenAPI document that the control plane serves. */
export function contractOperations(document: object): ContractOperation[] {
  const { paths } = withoutReferences(document, document) as RawDocument;
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      if (operation === undefined || operation['x-served-by'] === 'engine') return [];
      return [toOperation(path, method, item, operation)];
    }),
  );
}

function toOperation(
  path: string,
  method: Method,
  item: RawPathItem,
  { parameters = [], security = [{ apiKey: [] }], requestBody }: RawOperation,
): ContractOperation {
  const schemes = security.flatMap((requirement) => Object.keys(requirement));
  const token: Parameter = { name: 'token', in: 'query', schema: { type: 'string' } };
  const schema = requestBody?.content['application/json']?.schema;
  return {
    path,
    method,
    parameters: [
      ...(item.parameters ?? []),
      ...parameters,
      ...(schemes.includes('playbackToken') ? [token] : []),
    ],
    fileTypes: Object.keys(requestBody?.content ?? {}).filter((type) => type !== 'application/json'),
    body: schema && { schema, required: requestBody?.required ?? false },
    takesKey: schemes.includes('apiKey'),
  };
}

/** The value with its references resolved; the contract has no circular ones. */
function withoutReferences(value: unknown, document: object): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutReferences(item, document));
  if (typeof value !== 'object' || value === null) return value;
  if ('$ref' in value) return withoutReferences(find(document, String(value.$ref)), document);
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, withoutReferences(item, document)]),
  );
}

/** Resolves a reference such as `#/components/schemas/Video`. */
function find(document: object, reference: string): unknown {
  const names = reference.slice('#/'.length).split('/');
  return names.reduce<unknown>((found, name) => (found as Record<string, unknown>)[name], document);
}
