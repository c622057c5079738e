const HIDDEN = '[redacted]';

/** Names of fields whose values are always secrets. */
const SECRET_KEY =
  /^(authorization|cookie|set-cookie|.*password|.*secrets?|.*token|contentkey|apikey|.*secret(access)?key)$/i;

/** Secrets that are recognised by their shape, anywhere in a text. */
const SECRET_SHAPES: readonly [RegExp, string][] = [
  [/\bsvc_(live|test)_[A-Za-z0-9]{8,}/g, `svc_$1_${HIDDEN}`],
  [/\b(ut|whsec)_(?=[\w+/=-]{16})[\w+/=-]+/g, `$1_${HIDDEN}`],
  [/\bconsole_(code|session)_(?=[A-Za-z0-9]{16})\w+/g, `console_$1_${HIDDEN}`],
  [/\b(Bearer|Basic) [\w.~+/=-]+/gi, `$1 ${HIDDEN}`],
  [/(:\/\/[^\s:/@]*):[^\s/@]+@/g, `$1:${HIDDEN}@`],
];

/** Redacts everything in a text that has the shape of a secret. */
export function redactText(text: string): string {
  const clean = SECRET_SHAPES.reduce((rest, [shape, replacement]) => rest.replace(shape, replacement), text);
  return clean.replace(/[\w.-]+/g, withoutToken);
}

/** JWE and JWT: three or five base64url parts, the first a JSON header. One expression for them would not take linear time. */
function withoutToken(word: string): string {
  const begin = /\beyJ/.exec(word)?.index ?? -1;
  if (begin === -1 || word.slice(begin).split('.', 3).length < 3) return word;
  return `${word.slice(0, begin)}${HIDDEN}`;
}

/** Copies a log field without secrets, recognised by the field's name and by shape. Errors become plain objects. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (value === null || typeof value !== 'object') return value;
  if (depth > 6) return '[too deep]';
  if (value instanceof Error) {
    const { name, message, stack, cause } = value;
    const code = (value as NodeJS.ErrnoException).code;
    return redact({ name, message, code, stack, ...(cause !== undefined && { cause }) }, depth + 1);
  }
  if (value instanceof Date) return value.toISOString();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      SECRET_KEY.test(key) && item != null ? HIDDEN : redact(item, depth + 1),
    ]),
  );
}
