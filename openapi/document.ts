import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The bundled public contract, as committed. */
export function readOpenApiDocument(): Record<string, unknown> {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'dist/openapi.json'), 'utf8'));
}
