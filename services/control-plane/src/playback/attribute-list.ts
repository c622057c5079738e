/** An attribute list (RFC 8216 §4.2) without the undefined values. */
export function attributes(values: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
}

/** A quoted string of an attribute list. It cannot contain double quotes or line breaks, so different texts can become equal. */
export function quoted(text: string): string {
  return `"${text.replaceAll('"', "'").replaceAll(/[\r\n]+/g, ' ')}"`;
}
