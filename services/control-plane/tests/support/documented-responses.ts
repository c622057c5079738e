import { newId } from '@framelane/contracts/ids';
import { readOpenApiDocument } from '@framelane/openapi-tools/document';

/** A response that the contract documents for an operation of the control plane. */
export type DocumentedResponse = {
  operationId: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** As in the contract, with parameters in braces. */
  template: string;
  status: number;
  /** Codes of the problems shown as examples of it. */
  codes: string[];
  /** Whether the operation requires an API key, accepts one, or ignores it. */
  apiKey: 'required' | 'possible' | 'none';
  takesBody: boolean;
};

type Example = { value?: { code?: string }; $ref?: string };
type Media = { example?: { code?: string }; examples?: Record<string, Example> };
type ResponseObject = { $ref?: string; content?: Record<string, Media> };
type Operation = {
  operationId: string;
  'x-served-by'?: string;
  security: Record<string, string[]>[];
  requestBody?: object;
  responses: Record<string, ResponseObject>;
};

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** Every documented response of the control plane. */
export function documentedResponses(): DocumentedResponse[] {
  const document = readOpenApiDocument() as { paths: Record<string, Record<string, Operation>> };
  return Object.entries(document.paths).flatMap(([template, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      if (operation === undefined || operation['x-served-by'] === 'engine') return [];
      return Object.entries(operation.responses).map(([status, response]) => ({
        operationId: operation.operationId,
        method,
        template,
        status: Number(status),
        codes: codesOf(response, document),
        apiKey: useOfApiKey(operation),
        takesBody: operation.requestBody !== undefined,
      }));
    }),
  );
}

/** The path with unknown ids. */
export function withUnknownIds(template: string): string {
  const values: Record<string, string> = {
    rendition: '360p',
    sequence: '0',
    language: 'en',
    revision: '1',
    file: '480p',
  };
  return template.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? newId('vid'));
}

function codesOf(response: ResponseObject, document: object): string[] {
  const { example, examples = {} } = resolve(response, document).content?.['application/problem+json'] ?? {};
  const values = [example, ...Object.values(examples).map((each) => resolve(each, document).value)];
  return values.flatMap((value) => value?.code ?? []);
}

function useOfApiKey({ security }: Operation): DocumentedResponse['apiKey'] {
  if (!security.some((requirement) => 'apiKey' in requirement)) return 'none';
  return security.some((requirement) => Object.keys(requirement).length === 0) ? 'possible' : 'required';
}

function resolve<T extends { $ref?: string }>(value: T, document: object): T {
  if (value.$ref === undefined) return value;
  const names = value.$ref.replace('#/', '').split('/');
  return names.reduce<unknown>((found, name) => (found as Record<string, unknown>)[name], document) as T;
}
