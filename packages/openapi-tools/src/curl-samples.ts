import { addressOf, type Server } from './document.ts';

type Reference = { $ref: string };
type Example = { summary?: string; value?: unknown };
type MediaType = {
  schema?: Schema | Reference;
  example?: unknown;
  examples?: Record<string, Example | Reference>;
};
type Schema = { format?: string; example?: unknown; properties?: Record<string, Schema> };
type Parameter = {
  name: string;
  in: string;
  required?: boolean;
  example?: unknown;
  allowReserved?: boolean;
};
type Response = { content?: Record<string, unknown> };
type CodeSample = { lang: string; label: string; source: string };
type Operation = {
  tags?: string[];
  parameters?: (Parameter | Reference)[];
  requestBody?: { content: Record<string, MediaType> };
  responses: Record<string, Response | Reference>;
  security?: Record<string, string[]>[];
  servers?: Server[];
  'x-codeSamples'?: CodeSample[];
};
type PathItem = { parameters?: (Parameter | Reference)[]; servers?: Server[] } & {
  [method in (typeof METHODS)[number]]?: Operation;
};
type Document = { servers: Server[]; paths: Record<string, PathItem> };

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'] as const;

/** Types of bodies that are files: a part of a resumable upload, captions and images. */
const FILES = [
  'application/offset+octet-stream',
  'text/vtt',
  'application/x-subrip',
  'image/png',
  'image/jpeg',
];

/** The tag of operations that only the console uses. They need its cookie. */
const CONSOLE = 'Console';

/** The shell supplies credentials, so that the lines work as they are. */
const CREDENTIALS: Record<string, string[]> = {
  apiKey: ['-H "Authorization: Bearer $KEY"', '-H "X-Svc-Workspace: $WORKSPACE"'],
  uploadToken: ['-H "X-Upload-Token: $TOKEN"'],
};

/**
 * Adds `x-codeSamples` to every operation of a bundled document, except those of the console: one curl line for each example of
 * its request. Values come from the examples of parameters and bodies. Optional parameters without an example are omitted.
 */
export function addCurlSamples(document: object): void {
  const { servers, paths } = document as Document;
  for (const [path, item] of Object.entries(paths)) {
    for (const method of METHODS) {
      const operation = item[method];
      if (operation === undefined || operation.tags?.includes(CONSOLE)) continue;
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((parameter) =>
        resolve<Parameter>(document, parameter),
      );
      const server = operation.servers ?? item.servers ?? servers;
      const address = addressOf(server) + withExamples(path, parameters) + queryOf(parameters);
      operation['x-codeSamples'] = bodiesOf(document, operation).map(({ label, lines, implied }) => ({
        lang: 'Shell',
        label,
        source: [
          ['curl', ...methodOf(method, implied), ...outputOf(document, operation), `"${address}"`].join(' '),
          ...credentialsOf(operation),
          ...headersOf(parameters),
          ...lines,
        ].join(' \\\n  '),
      }));
    }
  }
}

function withExamples(path: string, parameters: Parameter[]): string {
  return path.replace(/\{(\w+)\}/g, (_, name) => {
    const parameter = parameters.find((each) => each.in === 'path' && each.name === name);
    return encodeURIComponent(String(parameter?.example));
  });
}

/** The required headers. The workspace is one of the credentials. */
function headersOf(parameters: Parameter[]): string[] {
  return parameters
    .filter(({ name, in: place, required }) => place === 'header' && required && name !== 'X-Svc-Workspace')
    .map(({ name, example }) => `-H "${name}: ${example}"`);
}

/** Arrays repeat the parameter (`style: form` with `explode`). */
function queryOf(parameters: Parameter[]): string {
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.example !== undefined)
    .flatMap(({ name, example, allowReserved = false }) =>
      [example].flat().map((value) => `${name}=${encoded(String(value), allowReserved)}`),
    );
  return query.length === 0 ? '' : `?${query.join('&')}`;
}

/** With `allowReserved` the value stays readable: only characters that would end it or change its meaning are encoded. */
function encoded(value: string, allowReserved: boolean): string {
  return allowReserved ? encodeURI(value).replace(/[&+#]/g, encodeURIComponent) : encodeURIComponent(value);
}

/** For each example, the lines that carry the body and the method that curl infers from them. */
function bodiesOf(
  document: object,
  { requestBody }: Operation,
): { label: string; lines: string[]; implied: string }[] {
  const { 'application/json': json, 'multipart/form-data': form } = requestBody?.content ?? {};
  const files = FILES.flatMap((type) => {
    const schema = requestBody?.content[type]?.schema;
    return schema === undefined ? [] : [{ type, file: resolve<Schema>(document, schema).example }];
  });
  const ofFiles = files.map(({ type, file }) => ({
    label: files.length === 1 && json === undefined ? 'curl' : type,
    lines: [`-H "Content-Type: ${type}"`, `--data-binary @${file}`],
    implied: 'post',
  }));
  if (json !== undefined) {
    const ofJson = Object.values(json.examples ?? {}).map((reference) => {
      const { summary = '', value } = resolve<Example>(document, reference);
      return {
        label: summary,
        lines: [`-H "Content-Type: application/json"`, `-d ${quoted(value)}`],
        implied: 'post',
      };
    });
    return [...ofJson, ...ofFiles];
  }
  if (form?.schema !== undefined) {
    const { properties = {} } = resolve<Schema>(document, form.schema);
    const files = Object.entries(properties).filter(([, { format }]) => format === 'binary');
    return [
      {
        label: 'curl',
        lines: files.map(([name, { example }]) => `-F "${name}=@${example}"`),
        implied: 'post',
      },
    ];
  }
  if (ofFiles.length > 0) return ofFiles;
  return [{ label: 'curl', lines: [], implied: 'get' }];
}

function quoted(value: unknown): string {
  return `'${JSON.stringify(value).replaceAll("'", `'\\''`)}'`;
}

function methodOf(method: string, implied: string): string[] {
  if (method === implied) return [];
  return method === 'head' ? ['--head'] : ['-X', method.toUpperCase()];
}

/** Binary responses go to a file. */
function outputOf(document: object, { responses }: Operation): string[] {
  const types = Object.keys(resolve<Response>(document, responses['200'] ?? {}).content ?? {});
  return types.some((type) => !/^text\/|json$|mpegurl$/.test(type)) ? ['-O'] : [];
}

/** The credentials of the first alternative; none if it is empty. */
function credentialsOf({ security: [first = {}] = [] }: Operation): string[] {
  return Object.keys(first).flatMap((scheme) => CREDENTIALS[scheme] ?? []);
}

/** Follows a reference within the document. Anything else is returned as it is. */
function resolve<T extends object>(document: object, thing: T | Reference): T {
  if (!('$ref' in thing)) return thing;
  const names = thing.$ref.replace(/^#\//, '').split('/');
  return names.reduce<unknown>((found, name) => (found as Record<string, unknown>)[name], document) as T;
}
