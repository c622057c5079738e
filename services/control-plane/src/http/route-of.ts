import type { Request } from 'express';
import type { OpenApiRequest } from 'express-openapi-validator/dist/framework/types.js';

/** The template behind the path of a request that was dealt with, e.g. `/v1/videos/{id}`; undefined when nothing is there. */
export function routeOf(req: Request): string | undefined {
  const { openapi } = req as OpenApiRequest;
  return openapi !== undefined && 'openApiRoute' in openapi ? openapi.openApiRoute : req.route?.path;
}
