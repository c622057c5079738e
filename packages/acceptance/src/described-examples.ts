import { escaped, valueAt } from './json-pointer.ts';

/** An example in an OpenAPI document and its schema, as JSON pointers. */
export type DescribedExample = { at: string; schema: string; value: unknown };

/** Keys whose values are data, not parts of the document. */
const VALUES = ['example', 'examples', 'default', 'const', 'enum'];

/** All examples of a document. Examples of bodies, parameters and headers belong to the `schema` beside them. */
export function examplesIn(document: object): DescribedExample[] {
  return examplesBelow(document, document, '#');
}

function examplesBelow(document: object, node: unknown, at: string): DescribedExample[] {
  if (typeof node !== 'object' || node === null) return [];
  const schema = 'schema' in node ? `${at}/schema` : at;
  const deeper = Object.entries(node)
    .filter(([name]) => !VALUES.includes(name) || hasPropertyNames(at))
    .flatMap(([name, child]) => examplesBelow(document, child, `${at}/${escaped(name)}`));
  if (hasPropertyNames(at)) return deeper;
  return [...ownExamples(document, node, at).map((own) => ({ ...own, schema })), ...deeper];
}

/** Whether the keys of the object at a pointer are names of properties. A property may have the name "example". */
function hasPropertyNames(at: string): boolean {
  return at.endsWith('/properties');
}

function ownExamples(document: object, node: object, at: string): { at: string; value: unknown }[] {
  const { example, examples } = node as { example?: unknown; examples?: Record<string, object> };
  if (example !== undefined) return [{ at: `${at}/example`, value: example }];
  return Object.entries(at === '#/components' ? {} : (examples ?? {})).map(([name, entry]) => {
    const { value } = ('$ref' in entry ? valueAt(document, String(entry.$ref)) : entry) as { value: unknown };
    return { at: `${at}/examples/${escaped(name)}`, value };
  });
}
