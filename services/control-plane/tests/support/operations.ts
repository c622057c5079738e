import { readOpenApiDocument } from '@framelane/openapi-tools/document';
import { jpegOf } from '@framelane/test-kit/jpeg';
import { pngOf } from '@framelane/test-kit/png';
import { withUnknownIds } from './documented-responses.ts';

/** One operation of the contract that requires an API key or a console session, with a valid input. */
export type KeyedOperation = {
  name: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** As in the contract, with parameters in braces. */
  template: string;
  /** With unknown ids. */
  path: string;
  permissions: string[];
  /** Null without a body. */
  contentType: string | null;
  body: object | string | undefined;
};

type Body = object | string;

type Operation = {
  security?: Record<string, string[]>[];
  requestBody?: {
    content: Record<string, { example?: Body; examples?: Record<string, { value: Body }> }>;
  };
};

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** Every operation of the contract that requires an API key or a console session. */
export function keyedOperations(): KeyedOperation[] {
  const { paths } = readOpenApiDocument() as { paths: Record<string, Record<string, Operation>> };
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      // Optional security begins with an empty requirement.
      const permissions = operation?.security?.[0]?.apiKey;
      if (operation === undefined || permissions === undefined) return [];
      const name = `${method.toUpperCase()} ${path}`;
      return [
        {
          name,
          method,
          template: path,
          path: `/v1${withUnknownIds(path)}`,
          permissions,
          ...firstBody(operation),
        },
      ];
    }),
  );
}

/** The examples of these types in the contract are names of files. */
const FILES: Record<string, Body> = {
  'text/vtt': 'WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n',
  'image/jpeg': jpegOf(1280, 720),
  'image/png': pngOf(64, 32),
};

/** The first example of the first content type. */
function firstBody({ requestBody }: Operation): Pick<KeyedOperation, 'contentType' | 'body'> {
  const [[contentType, { example, examples = {} }] = [null, {}]] = Object.entries(requestBody?.content ?? {});
  const body = FILES[contentType ?? ''] ?? example ?? Object.values(examples)[0]?.value;
  return { contentType, body };
}
