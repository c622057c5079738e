import { Ajv2020, type AnySchema, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

/** An answer as it came over the wire. Header names are in lower case. */
export type Answer = { status: number; headers: Record<string, string | undefined>; body: Buffer };

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

/** Name under which the document is known to the validator, so that its references resolve. */
const DOCUMENT = 'https://openapi.invalid/';

/** Holds answers against an OpenAPI document: for tests, and with nothing of the services' own validation. */
export class AnswerCheck {
  readonly #document: Document;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });

  constructor(document: object) {
    this.#document = document as Document;
    formats.default(this.#ajv);
    this.#ajv.addSchema(document, DOCUMENT);
  }

  /** Whether a path has an operation for this method that may answer with this status. */
  isDocumented(path: string, method: string, status: number): boolean {
    return this.#document.paths[path]?.[method]?.responses[status] !== undefined;
  }

  /** What of an answer is not as its operation describes it: status, media type, headers, body. Empty when all is well. */
  complaints(path: string, method: string, answer: Answer): string[] {
    const place = `#/paths/${escaped(path)}/${method}/responses/${answer.status}`;
    const response = this.#operation(path, method).responses[answer.status];
    if (response === undefined) return [`${method} ${path} does not describe ${answer.status}`];
    return this.#complaintsAt(response.$ref ?? place, answer);
  }

  /** The same for an error that is not described with any one operation, such as that of an unknown path. */
  problemComplaints({ headers, body }: Answer): string[] {
    const type = headers['content-type'];
    if (type !== 'application/problem+json') return [`the media type ${type} is not that of a problem`];
    return this.#complaintsAboutJson('#/components/schemas/Problem', body);
  }

  #operation(path: string, method: string): Operation {
    const operation = this.#document.paths[path]?.[method];
    if (operation === undefined) throw new Error(`There is no operation ${method} ${path}`);
    return operation;
  }

  #complaintsAt(place: string, answer: Answer): string[] {
    const response = this.#find<Response>(place);
    return [
      ...this.#complaintsAboutHeaders(place, response, answer),
      ...this.#complaintsAboutBody(place, response, answer),
    ];
  }

  #complaintsAboutHeaders(place: string, { headers = {} }: Response, answer: Answer): string[] {
    return Object.entries(headers).flatMap(([name, header]) => {
      const value = answer.headers[name.toLowerCase()];
      if (value === undefined) return [];
      const validate = this.#schema(`${header.$ref ?? `${place}/headers/${escaped(name)}`}/schema`);
      // A header is text; a number among its types makes one of it (OpenAPI 3.1 §4.8.12, style "simple").
      const number = value.trim() === '' ? undefined : Number(value);
      const fits = validate(value) || validate(number);
      return fits ? [] : [`header ${name}: ${this.#ajv.errorsText(validate.errors)}: ${value}`];
    });
  }

  #complaintsAboutBody(place: string, { content = {} }: Response, { headers, body }: Answer): string[] {
    const type = headers['content-type'];
    if (Object.keys(content).length === 0)
      return body.byteLength === 0 ? [] : ['a body that is not described'];
    const mediaType = type?.split(';')[0] ?? '';
    if (content[mediaType] === undefined) return [`the media type ${type} is not described`];
    if (!isJson(mediaType)) return [];
    return this.#complaintsAboutJson(`${place}/content/${escaped(mediaType)}/schema`, body);
  }

  #complaintsAboutJson(schema: string, body: Buffer): string[] {
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

/** What JSON says; undefined, which no schema takes, when it is none. */
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
