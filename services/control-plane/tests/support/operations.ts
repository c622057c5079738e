import { newId } from '@framelane/contracts/ids';
import { readOpenApiDocument } from '@framelane/openapi-tools/document';

/** One operation of the contract that requires an API key, with a valid input. */
export type KeyedOperation = {
  name: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** As in the contract, with parameters in braces. */
  template: string;
  /** With unknown ids. */
  path: string;
  permissions: string[];
  body: object | undefined;
};

type Operation = {
  security?: Record<string, string[]>[];
  requestBody?: {
    content: Record<string, { example?: object; examples?: Record<string, { value: object }> }>;
  };
};

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** Every operation of the contract that requires an API key. */
export function keyedOperations(): KeyedOperation[] {
  const { paths } = readOpenApiDocument() as { paths: Record<string, Record<string, Operation>> };
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      const permissions = operation?.security?.length === 1 ? operation.security[0]?.apiKey : undefined;
      if (operation === undefined || permissions === undefined) return [];
      const name = `${method.toUpperCase()} ${path}`;
      return [
        {
          name,
          method,
          template: path,
          path: `/v1${withUnknownIds(path)}`,
          permissions,
          body: firstExample(operation),
        },
      ];
    }),
  );
}

function withUnknownIds(path: string): string {
  return path.replace(/\{\w+\}/g, () => newId('vid'));
}

function firstExample(operation: Operation): object | undefined {
  const { example, examples = {} } = operation.requestBody?.content['application/json'] ?? {};
  return example ?? Object.values(examples)[0]?.value;
}
