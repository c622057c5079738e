/** Escapes a name for a JSON pointer in a URI fragment (RFC 6901 §6). */
export function escaped(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** The value at a pointer (`#/…`), or undefined. */
export function valueAt(document: unknown, pointer: string): unknown {
  const names = pointer.slice('#/'.length).split('/').map(unescaped);
  return names.reduce((found, name) => (found as Record<string, unknown> | undefined)?.[name], document);
}

function unescaped(part: string): string {
  return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
}
