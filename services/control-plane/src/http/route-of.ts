import type { Request } from 'express';
import type { OpenApiRequest } from 'express-openapi-validator/dist/framework/types.js';

/** The path template of a handled request, e.g. `/v1/videos/{id}`; undefined without a route. */
export function routeOf(req: Request): string | undefined {
  const { openapi } = req as OpenApiRequest;
  return openapi !== undefined && 'openApiRoute' in openapi ? openapi.openApiRoute : req.route?.path;
}
