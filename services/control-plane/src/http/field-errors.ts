import type { FieldError } from '@framelane/service-kit/problem';

/** One rule that a field breaks, as the validator reports it. */
export type ValidatorIssue = { path: string; message: string; errorCode?: string };

/** The message for each pattern of the contract. */
export type PatternMessages = ReadonlyMap<string, string>;

/** Codes of issues that only summarise others. */
const SUMMARIES: ReadonlySet<string> = new Set(['oneOf', 'anyOf', 'allOf', 'propertyNames']);

/** Finds every `pattern` in the contract that has an `x-pattern-message` beside it. */
export function patternMessagesOf(contract: unknown): PatternMessages {
  const found = new Map<string, string>();
  const search = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('pattern' in value && 'x-pattern-message' in value) {
      found.set(String(value.pattern), String(value['x-pattern-message']));
    }
    Object.values(value).forEach(search);
  };
  search(contract);
  return found;
}

/** One error for each invalid field, with a message for the client. A field with invalid entries is not an error of its own. */
export function toFieldErrors(issues: readonly ValidatorIssue[], patterns: PatternMessages): FieldError[] {
  const fields = Map.groupBy(issues, ({ path }) => path.replace(/^\//, ''));
  return [...fields].flatMap(([field, issuesOfField]) => {
    const rules = issuesOfField.map((issue) => toRule(issue, patterns));
    // For a field that can have several forms, the validator reports an issue for each form and a summary.
    const specific = rules.filter(({ code, message }) => !SUMMARIES.has(code) && message !== 'must be null');
    const hasInvalidEntry = [...fields.keys()].some((other) => other.startsWith(`${field}/`));
    if (specific.length === 0 && hasInvalidEntry) return [];
    const code = specific[0]?.code ?? rules[0]?.code ?? 'invalid';
    const message = [...new Set((specific.length > 0 ? specific : rules).map((rule) => rule.message))].join(
      ' or ',
    );
    const aboutNames = rules.some((rule) => rule.code === 'propertyNames');
    return [
      { field, code, message: aboutNames ? message.replace(/^must/, 'has a name that must') : message },
    ];
  });
}

function toRule({ message, errorCode = 'invalid' }: ValidatorIssue, patterns: PatternMessages) {
  // The validator marks its own keywords, e.g. "x-eov-type.openapi.validation".
  const code = (errorCode.split('.', 1)[0] ?? '').replace(/^x-eov-/, '');
  return { code, message: inWords(code, message, patterns) };
}

/** The validator's message without terms of JSON Schema. An unknown message stays unchanged. */
function inWords(code: string, message: string, patterns: PatternMessages): string {
  const number = /-?\d+(\.\d+)?/.exec(message)?.[0];
  const quoted = message.endsWith('"') ? message.slice(message.indexOf('"') + 1, -1) : '';
  switch (code) {
    case 'oneOf':
    case 'anyOf':
    case 'allOf':
      return 'is not valid';
    case 'required':
      return 'is missing';
    case 'type':
      return `must be ${message.replace('must be ', '').split(',').map(withArticle).join(' or ')}`;
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return number === '1' ? 'must not be empty' : `must have at least ${number} ${unitOf(code)}`;
    case 'maxLength':
    case 'maxItems':
    case 'maxProperties':
      return `must have at most ${number} ${unitOf(code)}`;
    case 'uniqueItems':
      return 'must not have an entry twice';
    case 'minimum':
      return `must be at least ${number}`;
    case 'maximum':
      return `must be at most ${number}`;
    case 'enum':
      return message.replace('equal to one of the allowed values:', 'one of');
    case 'format':
      return FORMATS[quoted] ?? message;
    case 'pattern':
      return patterns.get(quoted) ?? 'does not match the required format';
    default:
      return message;
  }
}

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'must be a time that exists, such as 2026-11-21T09:00:00Z',
  date: 'must be a day that exists, such as 2026-11-21',
  uri: 'must be an absolute URL, such as https://example.com/',
};

function withArticle(type: string): string {
  if (type === 'null') return type;
  return `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`;
}

function unitOf(code: string): string {
  if (code.endsWith('Length')) return 'characters';
  return code.endsWith('Items') ? 'entries' : 'pairs';
}
