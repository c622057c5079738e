import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

type Content = Record<string, { schema?: AnySchema; examples?: Record<string, { value: unknown }> }>;
type Reference = { $ref?: string };
type Server = { url: string };
type Operation = {
  operationId: string;
  requestBody?: { content: Content };
  responses: Record<string, Reference & { content?: Content }>;
};
type Method = (typeof METHODS)[number];
type PathItem = { servers?: Server[] } & { [method in Method]?: Operation };
type Document = { openapi: string; servers: Server[]; paths: Record<string, PathItem> };

/** Name under which the document is known to the validator, so that its references resolve. */
const DOCUMENT = 'https://openapi.invalid/';
const METHODS = ['get', 'post', 'delete', 'put', 'patch'] as const;

/** The OpenAPI description a Framelane serves, and the judge of what it answers. */
export class ApiDescription {
  readonly document: Document;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });

  static async fetch(baseUrl: string): Promise<ApiDescription> {
    const answer = await fetch(`${baseUrl}/openapi.json`);
    return new ApiDescription((await answer.json()) as Document);
  }

  private constructor(document: Document) {
    this.document = document;
    formats.default(this.#ajv);
    this.#ajv.addSchema(document, DOCUMENT);
  }

  /** Where an operation is served, e.g. `https://engine.example/upload`. */
  addressOf(operationId: string): string {
    const { path } = this.#find(operationId);
    const [server] = this.document.paths[path]?.servers ?? this.document.servers;
    return `${server?.url}${path}`;
  }

  /** The JSON bodies shown as examples of a request, by name. */
  requestExamples(operationId: string): [name: string, body: unknown][] {
    const { operation } = this.#find(operationId);
    const examples = operation.requestBody?.content['application/json']?.examples ?? {};
    return Object.entries(examples).map(([name, { value }]) => [name, value]);
  }

  /** What in an answer is not as described; empty when all is. Reads the body of the answer. */
  async complaints(operationId: string, answer: Response): Promise<string[]> {
    const { pointer, operation } = this.#find(operationId);
    const described = operation.responses[String(answer.status)];
    if (described === undefined) return [`${operationId} does not describe ${answer.status}`];
    const mediaType = answer.headers.get('content-type')?.split(';')[0] ?? '';
    const place = described.$ref ?? `${pointer}/responses/${answer.status}`;
    const validate = this.#ajv.getSchema(`${DOCUMENT}${place}/content/${escaped(mediaType)}/schema`);
    if (validate === undefined) return [`${operationId} ${answer.status} does not describe ${mediaType}`];
    const body: unknown = await answer.json();
    return validate(body) ? [] : [`${this.#ajv.errorsText(validate.errors)} in ${JSON.stringify(body)}`];
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
    throw new Error(`There is no operation ${operationId}`);
  }
}

/** A name as part of a JSON pointer in a URI fragment (RFC 6901 §6). */
function escaped(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}
