import { Ajv2020, type AnySchema, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

/** A response as received. Header names are in lower case. */
export type ReceivedResponse = { status: number; headers: Record<string, string | undefined>; body: Buffer };

type Reference = { $ref?: string };
type Header = Reference & { schema?: AnySchema };
type Response = Reference & {
  headers?: Record<string, Header>;
  content?: Record<string, { schema?: AnySchema }>;
};
type Operation = { responses: Record<string, Response> };
type Document = {
  paths: Record<string, Record<string, Operation | undefined>>;
  components: { responses: Record<string, Response>; headers: Record<string, Header> };
};

/** The id of the document in the validator. References resolve against it. */
const DOCUMENT = 'https://openapi.invalid/';

/** Checks responses against an OpenAPI document, for tests. Shares no code with the services' own validation. */
export class ResponseCheck {
  readonly #document: Document;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });

  constructor(document: object) {
    this.#document = document as Document;
    formats.default(this.#ajv);
    this.#ajv.addSchema(document, DOCUMENT);
  }

  /** Whether the document describes this status for the operation. */
  isDocumented(path: string, method: string, status: number): boolean {
    return this.#document.paths[path]?.[method]?.responses[status] !== undefined;
  }

  /**
   * Where a response differs from its operation's description: status, media type, headers, body. Empty if it conforms.
   * Throws if the document has no such operation.
   */
  violations(path: string, method: string, received: ReceivedResponse): string[] {
    const place = `#/paths/${escaped(path)}/${method}/responses/${received.status}`;
    const response = this.#operation(path, method).responses[received.status];
    if (response === undefined) return [`${method} ${path} does not describe ${received.status}`];
    return this.#violationsAt(response.$ref ?? place, received);
  }

  /** The same for an error that no operation describes, such as the one for an unknown path. */
  problemViolations({ headers, body }: ReceivedResponse): string[] {
    const type = headers['content-type'];
    if (type !== 'application/problem+json') return [`the media type ${type} is not that of a problem`];
    return this.#jsonViolations('#/components/schemas/Problem', body);
  }

  #operation(path: string, method: string): Operation {
    const operation = this.#document.paths[path]?.[method];
    if (operation === undefined) throw new Error(`There is no operation ${method} ${path}`);
    return operation;
  }

  #violationsAt(place: string, received: ReceivedResponse): string[] {
    const response = this.#find<Response>(place);
    return [
      ...this.#headerViolations(place, response, received),
      ...this.#bodyViolations(place, response, received),
    ];
  }

  #headerViolations(place: string, { headers = {} }: Response, received: ReceivedResponse): string[] {
    return Object.entries(headers).flatMap(([name, header]) => {
      const values = received.headers[name.toLowerCase()];
      if (values === undefined) return [];
      // Node.js has a list of Set-Cookie headers.
      const value = String(values);
      const validate = this.#schema(`${header.$ref ?? `${place}/headers/${escaped(name)}`}/schema`);
      // A header is text. Where the schema wants a number, its text is a number (OpenAPI 3.1 §4.8.12, style "simple").
      const number = value.trim() === '' ? undefined : Number(value);
      const valid = validate(value) || validate(number);
      return valid ? [] : [`header ${name}: ${this.#ajv.errorsText(validate.errors)}: ${value}`];
    });
  }

  #bodyViolations(place: string, { content = {} }: Response, { headers, body }: ReceivedResponse): string[] {
    const type = headers['content-type'];
    if (Object.keys(content).length === 0)
      return body.byteLength === 0 ? [] : ['a body that is not described'];
    const mediaType = type?.split(';')[0] ?? '';
    if (content[mediaType] === undefined) return [`the media type ${type} is not described`];
    if (!isJson(mediaType)) return [];
    return this.#jsonViolations(`${place}/content/${escaped(mediaType)}/schema`, body);
  }

  #jsonViolations(schema: string, body: Buffer): string[] {
    const validate = this.#schema(schema);
    return validate(parsed(body)) ? [] : [this.#ajv.errorsText(validate.errors, { dataVar: 'body' })];
  }

  #schema(place: string): ValidateFunction {
    const validate = this.#ajv.getSchema(DOCUMENT + place);
    if (validate === undefined) throw new Error(`There is no schema at ${place}`);
    return validate;
  }

  #find<T>(place: string): T {
    const names = place.slice('#/'.length).split('/').map(unescaped);
    return names.reduce<unknown>(
      (found, name) => (found as Record<string, unknown> | undefined)?.[name],
      this.#document,
    ) as T;
  }
}

function isJson(mediaType: string): boolean {
  return mediaType === 'application/json' || mediaType.endsWith('+json');
}

/** The parsed JSON, or undefined if it is not valid. No schema accepts undefined. */
function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** A name as part of a JSON pointer in a URI fragment (RFC 6901 §6), and back. */
function escaped(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}

function unescaped(part: string): string {
  return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
}
