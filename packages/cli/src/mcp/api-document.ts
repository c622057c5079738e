/** What is read of the API description that an installation serves. */
export type ApiDocument = {
  paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  components: unknown;
};

export type Operation = {
  operationId: string;
  summary: string;
  description?: string;
  security?: readonly Readonly<Record<string, readonly string[]>>[];
  parameters?: readonly unknown[];
  requestBody?: unknown;
  responses: Readonly<Record<string, unknown>>;
};

export type Parameter = {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: unknown;
};

export type Content = Readonly<Record<string, { schema?: unknown }>>;

/** A part of the document with its references replaced by what they name. A schema that contains itself accepts anything there. */
export function resolved(document: ApiDocument, part: unknown, within: readonly string[] = []): unknown {
  if (Array.isArray(part)) return part.map((each) => resolved(document, each, within));
  if (typeof part !== 'object' || part === null) return part;
  const { $ref: reference } = part as { $ref?: unknown };
  if (typeof reference === 'string') {
    if (within.includes(reference)) return {};
    return resolved(document, named(document, reference), [...within, reference]);
  }
  const known = Object.entries(part).filter(([name]) => !name.startsWith('x-'));
  return Object.fromEntries(known.map(([name, value]) => [name, resolved(document, value, within)]));
}

/** What a reference such as `#/components/schemas/Video` names. */
function named(document: ApiDocument, reference: string): unknown {
  let found: unknown = document;
  for (const name of reference.replace(/^#\//, '').split('/')) {
    const key = name.replaceAll('~1', '/').replaceAll('~0', '~');
    found = (found as Record<string, unknown> | undefined)?.[key];
  }
  return found ?? {};
}
