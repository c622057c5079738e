import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { examplesIn } from './described-examples.ts';
import { escaped, valueAt } from './json-pointer.ts';

type Content = Record<string, { schema?: AnySchema }>;
type Reference = { $ref?: string };
type Server = { url: string };
type Operation = {
  operationId: string;
  summary: string;
  tags: string[];
  responses: Record<string, Reference & { content?: Content }>;
  /** One curl line for each request example. Events and operations of the console have none. */
  'x-codeSamples'?: { label: string; source: string }[];
};
type Method = (typeof METHODS)[number];
type PathItem = { servers?: Server[] } & { [method in Method]?: Operation };
type Document = {
  openapi: string;
  servers: Server[];
  paths: Record<string, PathItem>;
  webhooks: Record<string, PathItem>;
};

/** The document's name in the validator, for its references. */
const DOCUMENT = 'https://openapi.invalid/';
const METHODS = ['get', 'head', 'post', 'delete', 'put', 'patch'] as const;

/** The OpenAPI description that an installation serves. Validates responses and examples. */
export class ApiDescription {
  readonly document: Document;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });

  static async fetch(baseUrl: string): Promise<ApiDescription> {
    const response = await fetch(`${baseUrl}/openapi.json`);
    return new ApiDescription((await response.json()) as Document);
  }

  private constructor(document: Document) {
    this.document = document;
    formats.default(this.#ajv);
    this.#ajv.addSchema(document, DOCUMENT);
  }

  /** The URL of an operation, such as `https://engine.example/upload`. */
  addressOf(operationId: string): string {
    const { path } = this.#find(operationId);
    const [server] = this.document.paths[path]?.servers ?? this.document.servers;
    return `${server?.url}${path}`;
  }

  /** All operations, with their curl lines if they have any. */
  get operations(): Operation[] {
    return operationsIn(this.document.paths);
  }

  /** All webhook events. */
  get events(): Operation[] {
    return operationsIn(this.document.webhooks);
  }

  /** Describes each example that does not match its schema. */
  invalidExamples(): string[] {
    return examplesIn(this.document).flatMap(({ schema, value, at }) => {
      const validate = this.#ajv.getSchema(DOCUMENT + schema);
      if (validate === undefined) return [`${at} refers to ${schema}, which is missing`];
      return validate(value) ? [] : [`${at} ${this.#ajv.errorsText(validate.errors)}`];
    });
  }

  /** Describes how a response differs from the description. Reads the response body. */
  async mismatches(operationId: string, response: Response): Promise<string[]> {
    const { pointer, operation } = this.#find(operationId);
    const described = operation.responses[String(response.status)];
    if (described === undefined) return [`${operationId} does not describe ${response.status}`];
    const mediaType = response.headers.get('content-type')?.split(';')[0] ?? '';
    const { place, content = {} } = this.#resolve(described, `${pointer}/responses/${response.status}`);
    const body = await response.text();
    if (Object.keys(content).length === 0 && body === '') return [];
    if (content[mediaType] === undefined)
      return [`${operationId} ${response.status} does not describe ${mediaType}`];
    if (!mediaType.endsWith('json')) return [];
    const validate = this.#ajv.getSchema(`${DOCUMENT}${place}/content/${escaped(mediaType)}/schema`);
    if (validate === undefined) return [`${operationId} ${response.status} has no schema for ${mediaType}`];
    return validate(JSON.parse(body)) ? [] : [`${this.#ajv.errorsText(validate.errors)} in ${body}`];
  }

  /** A described response and its JSON pointer, after following a reference. */
  #resolve(response: Reference & { content?: Content }, place: string): { place: string; content?: Content } {
    const { $ref } = response;
    if ($ref === undefined) return { place, ...response };
    return { place: $ref, ...(valueAt(this.document, $ref) as { content?: Content }) };
  }

  #find(operationId: string): { path: string; pointer: string; operation: Operation } {
    for (const [path, item] of Object.entries(this.document.paths)) {
      for (const method of METHODS) {
        const operation = item[method];
        if (operation?.operationId === operationId) {
          return { path, pointer: `#/paths/${escaped(path)}/${method}`, operation };
        }
      }
    }
    throw new Error(`Unknown operation ${operationId}`);
  }
}

function operationsIn(items: Record<string, PathItem>): Operation[] {
  return Object.values(items).flatMap((item) => METHODS.flatMap((method) => item[method] ?? []));
}
