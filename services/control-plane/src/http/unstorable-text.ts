import { type FieldError, validationFailed } from '@framelane/service-kit/problem';

/**
 * Throws 400 `validation_failed` if a text in a value is one that PostgreSQL cannot store: it contains NUL, or half of a surrogate
 * pair. The fields of the public API have patterns instead. `path` is the field of the value.
 */
export function refuseUnstorableText(value: unknown, path: string): void {
  const [first] = unstorableTexts(value, path);
  if (first !== undefined) throw validationFailed([first]);
}

function* unstorableTexts(value: unknown, path: string): Generator<FieldError> {
  if (typeof value === 'string') {
    if (!isStorable(value)) yield { field: path, code: 'pattern', message: MESSAGE };
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      if (isStorable(name)) yield* unstorableTexts(member, `${path}/${name}`);
      else yield { field: path, code: 'pattern', message: `has a name that ${MESSAGE}` };
    }
  }
}

const MESSAGE = 'must not contain the character NUL or half of a surrogate pair';

function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}
