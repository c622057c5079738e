import { promisify } from 'node:util';
import type { FieldError } from '@framelane/service-kit/problem';
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import * as OpenApiValidator from 'express-openapi-validator';
import type { OpenApiRequest, OpenApiValidatorOpts } from 'express-openapi-validator/dist/framework/types.js';
import type { Contract } from './contract.ts';
import { patternMessagesOf } from './field-errors.ts';
import { jsonBody } from './json-body.ts';
import { requireFlatJson } from './json-depth.ts';
import { invalidInput } from './problems.ts';
import {
  type BodySchema,
  type Parameter,
  unknownField,
  unknownFields,
  unknownParameters,
} from './unknown-fields.ts';

/** The largest accepted JSON body. */
const BODY_LIMIT = '256kb';

/** The same for operations that need no credentials: a small compressed body can take long to parse. */
const OPEN_BODY_LIMIT = '4kb';

/** A body as handlers receive it: the validator has set missing members that have a default. */
export type WithDefaults<Body, Names extends keyof Body> = Body & Required<Pick<Body, Names>>;

/**
 * Checks the API key or the console session, the workspace, the environment and the permissions that an operation requires; throws a
 * Problem. By default an operation accepts both credentials. `workspaceId` is the workspace of a request that has a session and no
 * workspace header.
 */
export type Authenticate = (
  req: Request,
  permissions: string[],
  options?: { acceptsKeys?: boolean; workspaceId?: string | undefined },
) => Promise<void>;

/**
 * The middleware that authenticates every request, parses its JSON body and validates it against the contract, in this order: nobody without
 * a credential causes work.
 */
export function requestValidation(
  contract: Contract,
  authenticate: Authenticate,
): (RequestHandler | ErrorRequestHandler)[] {
  const patterns = patternMessagesOf(contract);

  // The complete errors of the security handlers. The validator passes on only their status and text.
  const refusals = new WeakMap<Request, unknown>();

  const securityHandler = (
    check: Authenticate,
    bodyLimit: string,
    options: { acceptsKeys?: boolean } = {},
  ) => {
    const readBody = bodyReader(bodyLimit);
    return async (req: Request, permissions: string[]) => {
      try {
        await check(req, permissions, { ...options, workspaceId: linkedWorkspace(req) });
        await readBody(req);
        return true;
      } catch (error) {
        refusals.set(req, error);
        throw error;
      }
    };
  };

  const refusalHandler: ErrorRequestHandler = (error, req, _res, next) => {
    if (refusals.has(req)) next(refusals.get(req));
    else if (error instanceof OpenApiValidator.error.BadRequest) {
      next(invalidInput(error, req, { patterns, unknown: unknownFieldsOf(req, contract) }));
    } else next(error);
  };

  // The validator reads neither the body of an operation that has none in the contract, nor unknown parameters.
  const refuseUndescribed: RequestHandler = (req, _res, next) => {
    const unknown = requestBodyOf(req) === undefined ? unknownFieldsOf(req, contract) : [];
    next(unknown.length > 0 ? unknownField(unknown) : undefined);
  };

  return [
    validatedAsGet(
      OpenApiValidator.middleware({
        apiSpec: contract as OpenApiValidatorOpts['apiSpec'] & object,
        // The contract is checked when it is built.
        validateApiSpec: false,
        validateRequests: { allowUnknownQueryParameters: true },
        ajvFormats: { mode: 'full' },
        validateSecurity: {
          handlers: {
            apiKey: securityHandler(authenticate, BODY_LIMIT, { acceptsKeys: true }),
            consoleSession: securityHandler(authenticate, BODY_LIMIT, { acceptsKeys: false }),
            nobody: securityHandler(async () => {}, OPEN_BODY_LIMIT),
          },
        },
        // Its multer would buffer uploads in memory; no operation here accepts multipart.
        fileUploader: false,
      }) as RequestHandler[],
    ),
    refuseUndescribed,
    refusalHandler,
  ].flat();
}

/** Reads a JSON body into `req.body`. The body of a GET or HEAD is ignored. */
function bodyReader(limit: string): (req: Request) => Promise<void> {
  const parse = promisify(jsonBody(limit));
  return async (req) => {
    if (isRead(req)) return;
    await parse(req, req.res as Response);
    requireFlatJson(req.body);
  };
}

/** Whether the request only reads. A HEAD is validated as GET. */
function isRead({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** The workspace in the address of a request, for the links that the contract describes: they have no headers. */
function linkedWorkspace(req: Request): string | undefined {
  const { openapi } = req as { openapi?: { schema?: { parameters?: Parameter[] } } };
  const parameters = openapi?.schema?.parameters ?? [];
  const { workspace } = req.query;
  const isLink = parameters.some((parameter) => parameter.in === 'query' && parameter.name === 'workspace');
  return isLink && typeof workspace === 'string' ? workspace : undefined;
}

type RequestBody = { content: Record<string, { schema: BodySchema }> };

/** The description of the body of a request; undefined if the operation has none. */
function requestBodyOf(req: Request): RequestBody | undefined {
  // The validator sets null where the contract has no body.
  const { openapi } = req as { openapi?: { schema?: { requestBody?: RequestBody | null } } };
  return openapi?.schema?.requestBody ?? undefined;
}

/** The fields of the body that its operation does not know, and the parameters, if it refuses unknown ones. */
function unknownFieldsOf(req: Request, contract: Contract): FieldError[] {
  if (isRead(req)) return unknownParametersOf(req, contract);
  const schema = requestBodyOf(req)?.content['application/json']?.schema;
  return unknownFields(schema ?? { additionalProperties: false }, req.body, contract);
}

/** The parameters of the query that an operation does not know, if it refuses such ones: then `x-other-parameters` has those of its security. */
function unknownParametersOf(req: Request, contract: Contract): FieldError[] {
  const { openapi } = req as {
    openapi?: { schema?: { parameters?: Parameter[]; 'x-other-parameters'?: string[] } };
  };
  const { parameters = [], 'x-other-parameters': others } = openapi?.schema ?? {};
  return others === undefined ? [] : unknownParameters({ parameters, others }, req.query, contract);
}

/** The path template of a handled request, e.g. `/v1/videos/{id}`; undefined without a route. */
export function routeOf(req: Request): string | undefined {
  const { openapi } = req as OpenApiRequest;
  return openapi !== undefined && 'openApiRoute' in openapi ? openapi.openApiRoute : req.route?.path;
}

/** The operationId of a validated request; undefined without a route. */
export function operationOf(req: Request): string | undefined {
  const { openapi } = req as { openapi?: { schema?: { operationId?: string } } };
  return openapi?.schema?.operationId;
}

/**
 * The contract documents GET only. A HEAD request is validated as GET. Express routes it to the GET handler, and Node omits
 * the body.
 */
function validatedAsGet(validators: RequestHandler[]): RequestHandler[] {
  const heads = new WeakSet<Request>();
  return [
    (req, _res, next) => {
      if (req.method === 'HEAD') {
        heads.add(req);
        req.method = 'GET';
      }
      next();
    },
    ...validators,
    (req, _res, next) => {
      if (heads.has(req)) req.method = 'HEAD';
      next();
    },
  ];
}
