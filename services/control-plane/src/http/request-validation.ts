import type { FieldError } from '@framelane/service-kit/problem';
import { type ErrorRequestHandler, type Request, type RequestHandler, Router } from 'express';
import * as OpenApiValidator from 'express-openapi-validator';
import type { OpenApiRequest, OpenApiValidatorOpts } from 'express-openapi-validator/dist/framework/types.js';
import type { Contract } from './contract.ts';
import { patternMessagesOf } from './field-errors.ts';
import { jsonBody } from './json-body.ts';
import { refuseDeepJson } from './json-depth.ts';
import { invalidInput } from './problems.ts';
import { type BodySchema, unknownField, unknownFields } from './unknown-fields.ts';

/** The largest accepted JSON body. */
const BODY_LIMIT = '256kb';

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
 * The middleware that parses the JSON body and validates every request against the contract.
 * Authentication runs inside, before the input is validated.
 */
export function requestValidation(
  contract: Contract,
  authenticate: Authenticate,
): (RequestHandler | ErrorRequestHandler)[] {
  const patterns = patternMessagesOf(contract);

  // The complete errors of the security handlers. The validator passes on only their status and text.
  const refusals = new WeakMap<Request, unknown>();

  // A malformed body is an input error, which is reported only after authentication.
  const unreadable = new WeakMap<Request, unknown>();
  const deferBodyError: ErrorRequestHandler = (error, req, _res, next) => {
    unreadable.set(req, error);
    next();
  };

  const securityHandler = (acceptsKeys: boolean) => async (req: Request, permissions: string[]) => {
    try {
      await authenticate(req, permissions, { acceptsKeys, workspaceId: linkedWorkspace(req) });
      if (unreadable.has(req)) throw unreadable.get(req);
      return true;
    } catch (error) {
      refusals.set(req, error);
      throw error;
    }
  };

  const refusalHandler: ErrorRequestHandler = (error, req, _res, next) => {
    if (refusals.has(req)) next(refusals.get(req));
    else if (error instanceof OpenApiValidator.error.BadRequest) {
      // The security handler, which reports malformed bodies, does not run for operations without credentials.
      if (unreadable.has(req) && requestBodyOf(req) !== undefined) next(unreadable.get(req));
      else next(invalidInput(error, req, { patterns, unknown: unknownFieldsOf(req, contract) }));
    } else next(error);
  };

  // The validator does not read the body of an operation that has none in the contract.
  const refuseUndescribedBody: RequestHandler = (req, _res, next) => {
    const unknown = requestBodyOf(req) === undefined ? unknownFieldsOf(req, contract) : [];
    next(unknown.length > 0 ? unknownField(unknown) : undefined);
  };

  return [
    // A router of its own, so that `deferBodyError` gets only errors of the body.
    Router().use(jsonBody(BODY_LIMIT), refuseDeepJson, deferBodyError),
    validatedAsGet(
      OpenApiValidator.middleware({
        apiSpec: contract as OpenApiValidatorOpts['apiSpec'] & object,
        // The contract is checked when it is built.
        validateApiSpec: false,
        validateRequests: { allowUnknownQueryParameters: true },
        ajvFormats: { mode: 'full' },
        validateSecurity: {
          handlers: { apiKey: securityHandler(true), consoleSession: securityHandler(false) },
        },
        // Its multer would buffer uploads in memory; no operation here accepts multipart.
        fileUploader: false,
      }) as RequestHandler[],
    ),
    refuseUndescribedBody,
    refusalHandler,
  ].flat();
}

/** The workspace in the address of a request, for the links that the contract describes: they have no headers. */
function linkedWorkspace(req: Request): string | undefined {
  const { openapi } = req as { openapi?: { schema?: { parameters?: { in?: string; name?: string }[] } } };
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

/** The fields of the body that its operation does not know. The body of a GET or HEAD is ignored. */
function unknownFieldsOf(req: Request, contract: Contract): FieldError[] {
  if (['GET', 'HEAD'].includes(req.method)) return [];
  const schema = requestBodyOf(req)?.content['application/json']?.schema;
  return unknownFields(schema ?? { additionalProperties: false }, req.body, contract);
}

/** The path template of a handled request, e.g. `/v1/videos/{id}`; undefined without a route. */
export function routeOf(req: Request): string | undefined {
  const { openapi } = req as OpenApiRequest;
  return openapi !== undefined && 'openApiRoute' in openapi ? openapi.openApiRoute : req.route?.path;
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
