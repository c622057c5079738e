import { type ApiDocument, type Content, type Operation, type Parameter, resolved } from './api-document.ts';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** An operation of the API as a tool. */
export type ApiTool = {
  /** `listVideos` is `list_videos`. */
  name: string;
  title: string;
  description: string;
  method: Uppercase<(typeof METHODS)[number]>;
  path: string;
  /** Where the arguments go. */
  pathNames: string[];
  queryNames: string[];
  /** The media type of the argument `body`; undefined without one. */
  bodyType: string | undefined;
  inputSchema: JsonSchema;
  reads: boolean;
};

export type JsonSchema = { type: 'object'; properties: Record<string, unknown>; required: string[] };

/** Fields of responses with which others could act for the workspace. */
const SECRETS = ['secret', 'token', 'uploadToken'];

/** Response bodies that are text. Others are files. */
const TEXTS = ['application/json', 'text/vtt'];

/**
 * The operations of the API description that a key with these permissions may call, as tools. Operations whose response has a secret or is
 * a file are left out, and so is what no key may call.
 */
export function apiTools(document: ApiDocument, permissions: readonly string[]): ApiTool[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = resolved(document, item[method]) as Operation | undefined;
      if (operation === undefined || !mayCall(operation, permissions) || !isOffered(operation)) return [];
      const shared = resolved(document, item.parameters ?? []) as Parameter[];
      return [toolOf(method, path, operation, shared)];
    }),
  );
}

/** Whether a key needs no permission beyond these. Operations for anybody are for players and browsers. */
function mayCall({ security = [] }: Operation, permissions: readonly string[]): boolean {
  if (security.some((each) => Object.keys(each).length === 0)) return false;
  const needed = security.find((each) => 'apiKey' in each)?.apiKey;
  return needed?.every((each) => permissions.includes(each)) ?? false;
}

function isOffered({ requestBody, responses }: Operation): boolean {
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const contents = successes.map(([, response]) => (response as { content?: Content }).content ?? {});
  const isText = contents.every((content) => Object.keys(content).every((type) => TEXTS.includes(type)));
  const bodies = Object.keys((requestBody as { content?: Content } | undefined)?.content ?? {});
  const takesText = bodies.length === 0 || bodies.some((type) => TEXTS.includes(type));
  return isText && takesText && !contents.some((content) => hasSecret(Object.values(content)));
}

/** Whether a schema has a property with the name of a secret. */
function hasSecret(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false;
  const { properties } = part as { properties?: object };
  if (SECRETS.some((name) => properties !== undefined && Object.hasOwn(properties, name))) return true;
  return Object.entries(part).some(
    ([name, value]) => name !== 'examples' && name !== 'example' && hasSecret(value),
  );
}

function toolOf(
  method: (typeof METHODS)[number],
  path: string,
  operation: Operation,
  shared: readonly Parameter[],
): ApiTool {
  const parameters = [...shared, ...((operation.parameters ?? []) as Parameter[])];
  const [inPath, inQuery] = ['path', 'query'].map((where) => parameters.filter((each) => each.in === where));
  const body = operation.requestBody as { required?: boolean; content: Content } | undefined;
  const bodyType = body && TEXTS.find((type) => type in body.content);
  const arguments_ = [...(inPath ?? []), ...(inQuery ?? [])];
  const properties = Object.fromEntries(
    arguments_.map(({ name, description, schema }) => [name, { ...(schema as object), description }]),
  );
  const required = arguments_.flatMap((each) => (each.required ? each.name : []));
  if (body !== undefined && bodyType !== undefined) {
    properties.body = { ...(body.content[bodyType]?.schema as object), description: `Sent as ${bodyType}.` };
    if (body.required) required.push('body');
  }
  return {
    name: operation.operationId.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    title: operation.summary,
    description: [operation.summary, operation.description?.trim() ?? ''].join('. '),
    method: method.toUpperCase() as ApiTool['method'],
    path,
    pathNames: (inPath ?? []).map(({ name }) => name),
    queryNames: (inQuery ?? []).map(({ name }) => name),
    bodyType,
    inputSchema: { type: 'object', properties, required },
    reads: method === 'get',
  };
}
