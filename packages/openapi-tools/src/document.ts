import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A server as OpenAPI describes it. */
export type Server = {
  url: string;
  description?: string;
  variables?: Record<string, { default: string }>;
};

/** The folder of the contract. */
export const CONTRACT = dirname(fileURLToPath(import.meta.resolve('@framelane/openapi/package.json')));

/** Reads the bundled public contract, as committed. */
export function readOpenApiDocument(): Record<string, unknown> {
  return JSON.parse(readFileSync(join(CONTRACT, 'dist/openapi.json'), 'utf8'));
}

/** The address of the first server, with the defaults in place of its variables. */
export function addressOf([server]: readonly Server[]): string {
  const { url = '', variables = {} } = server ?? {};
  return url.replace(/\{(\w+)\}/g, (_, name) => variables[name]?.default ?? '');
}
