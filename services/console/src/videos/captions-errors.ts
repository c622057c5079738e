import { FramelaneError } from '@framelane/client';

type CaptionsErrors = { file?: string; language?: string; label?: string };

/** The fields of the form by the names in errors of the API. */
const FIELDS: Readonly<Record<string, keyof CaptionsErrors>> = {
  'path/language': 'language',
  'query/label': 'label',
};

/** The errors of a response at the fields of the form. An error of the file says its line. */
export function captionsErrors(error: unknown): CaptionsErrors {
  if (!(error instanceof FramelaneError) || error.problem === null) return {};
  const { code, detail, errors = [] } = error.problem;
  if (code === 'invalid_captions' || code === 'body_too_large') return { file: detail };
  return Object.fromEntries(
    errors.flatMap(({ field, message }) => {
      const name = FIELDS[field];
      return name === undefined ? [] : [[name, `This ${message}.`]];
    }),
  );
}
