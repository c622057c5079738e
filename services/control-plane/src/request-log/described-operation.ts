import type { Request } from 'express';
import type { Schema } from './described-value.ts';

type Content = { content?: Record<string, { schema?: Schema }> };
type Referable<T> = T & { $ref?: string };
type Parameter = { in?: string; name?: string; schema?: Schema };
type Operation = {
  parameters?: Referable<Parameter>[];
  requestBody?: Referable<Content> | null;
  responses?: Record<string, Referable<Content>>;
};

/** Looks up what a reference names, such as `#/components/schemas/Video`. */
export function resolver(contract: object): (ref: string) => Schema | undefined {
  return (ref) =>
    ref
      .replace(/^#\//, '')
      .split('/')
      .reduce<object | undefined>(
        (place, name) => (place as Record<string, object> | undefined)?.[name.replaceAll('~1', '/')],
        contract,
      );
}

const NOTHING: Operation = {};

/** Finds what the contract says about the operation of a validated request. It reads each operation once. */
export function describedOperations(
  resolve: (ref: string) => object | undefined,
): (req: Request) => DescribedOperation {
  const known = new WeakMap<Operation, DescribedOperation>();
  return (req) => {
    const { schema: operation = NOTHING } = (req as { openapi?: { schema?: Operation } }).openapi ?? {};
    const described = known.get(operation) ?? new DescribedOperation(operation, resolve);
    known.set(operation, described);
    return described;
  };
}

/** What the contract says about the query and the JSON bodies of an operation. */
export class DescribedOperation {
  readonly query: Schema;
  readonly #operation: Operation;
  readonly #resolve: (ref: string) => object | undefined;

  constructor(operation: Operation, resolve: (ref: string) => object | undefined) {
    this.#operation = operation;
    this.#resolve = resolve;
    this.query = this.#query();
  }

  #query(): Schema {
    const parameters = (this.#operation.parameters ?? []).map((each) => this.#target(each));
    const own = parameters.flatMap(({ in: place, name, schema }) =>
      place === 'query' && name !== undefined && schema !== undefined ? [[name, schema] as const] : [],
    );
    return { properties: Object.fromEntries(own) };
  }

  requestBody(): Schema | undefined {
    const { requestBody } = this.#operation;
    return requestBody ? this.#jsonOf(requestBody) : undefined;
  }

  responseBody(status: number): Schema | undefined {
    const response = this.#operation.responses?.[status];
    return response === undefined ? undefined : this.#jsonOf(response);
  }

  #jsonOf(described: Referable<Content>): Schema | undefined {
    const { content = {} } = this.#target(described);
    return (content['application/json'] ?? content['application/problem+json'])?.schema;
  }

  #target<T extends object>(described: Referable<T>): T {
    return described.$ref === undefined
      ? described
      : ((this.#resolve(described.$ref) as T | undefined) ?? described);
  }
}
