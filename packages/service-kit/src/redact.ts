const HIDDEN = '[redacted]';

/** Names of fields whose values are always secrets. */
const SECRET_KEY =
  /^(authorization|cookie|set-cookie|.*password|.*secrets?|.*token|contentkey|apikey|.*secret(access)?key)$/i;

/** Secrets that are recognised by their shape, anywhere in a text. */
const SECRET_SHAPES: readonly [RegExp, string][] = [
  [/\bsvc_(live|test)_[A-Za-z0-9]{8,}/g, `svc_$1_${HIDDEN}`],
  [/\b(Bearer|Basic) [\w.~+/=-]+/gi, `$1 ${HIDDEN}`],
  [/(:\/\/[^\s:/@]*):[^\s/@]+@/g, `$1:${HIDDEN}@`],
];

/** Secrets that are recognised by their prefix and their length: shorter words, such as `console_code_invalid`, are none. */
const PREFIXED_SECRETS = [/\b(ut_|whsec_)([\w+/=-]+)/g, /\b(console_code_|console_session_)([A-Za-z0-9]+)/g];
const SHORTEST_SECRET = 16;

/** Redacts everything in a text that has the shape of a secret. */
export function redactText(text: string): string {
  let clean = text;
  for (const [shape, replacement] of SECRET_SHAPES) clean = clean.replace(shape, replacement);
  for (const shape of PREFIXED_SECRETS) clean = clean.replace(shape, withoutSecret);
  return clean.replace(/[\w.-]+/g, withoutToken);
}

function withoutSecret(word: string, prefix: string, secret: string): string {
  return secret.length < SHORTEST_SECRET ? word : `${prefix}${HIDDEN}`;
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
