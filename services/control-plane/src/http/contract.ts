import type { operations } from '@framelane/openapi/types';
import { addressOf, readOpenApiDocument, type Server } from '@framelane/openapi-tools/document';
import type { RequestHandler } from 'express';

/** The operations that engines serve. */
type EngineOperationId = 'uploadFile' | 'sendUploadPart' | `${string}ResumableUpload`;

/** The operationId of every operation that the control plane serves; `on…` are webhooks. */
export type OperationId = Exclude<keyof operations, EngineOperationId | `on${string}`>;

/** Handlers of some operations. `pairOperations` needs those of all. */
export type Handlers = Partial<Record<OperationId, RequestHandler>>;

type Operation = { operationId?: string; 'x-served-by'?: string; security?: object[] };
type PathItem = { servers?: Server[] } & { [method in (typeof METHODS)[number]]?: Operation };

/** The public contract as an OpenAPI document. */
export type Contract = {
  openapi: string;
  info: { title: string; version: string };
  servers: Server[];
  paths: Record<string, PathItem>;
  components: { [section: string]: unknown };
  [section: string]: unknown;
};

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** The whole contract with the addresses of this installation, also in its examples. */
export function loadContract({ baseUrl, engineUrl }: { baseUrl: string; engineUrl: string }): Contract {
  const published = readOpenApiDocument() as Contract;
  const engine = Object.values(published.paths).find(servedByEngine);
  if (engine?.servers === undefined) throw new Error('The contract has no server for uploads');
  // Splits first: a new address can contain the published address of the other service, which must not be replaced there.
  const text = JSON.stringify(published)
    .split(addressOf(engine.servers))
    .map((part) => part.replaceAll(rootOf(addressOf(published.servers)), () => rootOf(baseUrl)))
    .join(engineUrl);
  const contract: Contract = JSON.parse(text);
  contract.servers = [{ url: baseUrl, description: 'Control plane' }];
  for (const item of Object.values(contract.paths)) {
    if (servedByEngine(item)) item.servers = [{ url: engineUrl, description: 'Engine' }];
  }
  return contract;
}

/** An address of the control plane without `/v1`. */
function rootOf(baseUrl: string): string {
  return baseUrl.replace(/\/v1$/, '');
}

/** The part of the contract that the control plane serves, under the path of its router. */
export function controlPlanePart(contract: Contract): Contract {
  const paths = Object.entries(contract.paths)
    .filter(([, item]) => !servedByEngine(item))
    .map(([path, item]) => [path, withOneSecurity(item)]);
  return {
    ...contract,
    servers: [{ url: '/v1' }],
    paths: Object.fromEntries(paths),
    components: {
      ...contract.components,
      securitySchemes: {
        apiKey: CHECKED_BY_HANDLER,
        consoleSession: CHECKED_BY_HANDLER,
        nobody: CHECKED_BY_HANDLER,
      },
    },
  };
}

/**
 * A scheme that the validator leaves to the handler. Otherwise it would refuse requests without an Authorization header, for
 * example.
 */
const CHECKED_BY_HANDLER = { type: 'http', scheme: 'any' };

/**
 * Keeps the first alternative of the security, because the validator would check each of them: `apiKey` stands for an API key or a
 * console session. `nobody` replaces no security, and optional security (`{}` is one alternative): the handler of such an operation
 * decides whether it needs credentials.
 */
function withOneSecurity(item: PathItem): PathItem {
  const operations = METHODS.flatMap((method) => {
    const operation = item[method];
    if (operation?.security === undefined) return [];
    const [first] = operation.security;
    const isOpen = first === undefined || operation.security.some((each) => Object.keys(each).length === 0);
    return [[method, { ...operation, security: [isOpen ? { nobody: [] } : first] }]];
  });
  return { ...item, ...Object.fromEntries(operations) };
}

function servedByEngine(item: PathItem): boolean {
  return METHODS.some((method) => item[method]?.['x-served-by'] === 'engine');
}

/** A route of the contract with its handler. */
export type Route = { method: (typeof METHODS)[number]; path: string; handler: RequestHandler };

/**
 * Pairs every operation of the contract with its handler. Throws when an operation has no handler, or a handler no operation:
 * a service that differs from its contract does not start.
 */
export function pairOperations(
  contract: Contract,
  handlers: Readonly<Record<OperationId, RequestHandler>>,
): Route[] {
  const unpaired = new Map<string, RequestHandler>(Object.entries(handlers));
  const routes = operationsOf(contract).map(({ method, path, operationId }) => {
    const handler = unpaired.get(operationId);
    if (handler === undefined)
      throw new Error(`No handler for operation "${operationId}" (${method} ${path})`);
    unpaired.delete(operationId);
    return { method, path: toExpressPath(path), handler };
  });
  if (unpaired.size > 0) throw new Error(`Handlers without an operation: ${[...unpaired.keys()].join(', ')}`);
  return routes;
}

function operationsOf(contract: Contract) {
  return Object.entries(contract.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [{ method, path, operationId: operation.operationId ?? '' }];
    }),
  );
}

/** `/videos/{id}` → `/videos/:id`. */
function toExpressPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}
