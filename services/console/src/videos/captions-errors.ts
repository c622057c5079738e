import { FramelaneError } from '@framelane/client';

type CaptionsErrors = { file?: string; language?: string; label?: string };

/** The fields of the form by the names in errors of the API. */
const FIELDS: Readonly<Record<string, keyof CaptionsErrors>> = {
  'path/language': 'language',
  'query/label': 'label',
};

/** Maps an error of the API to messages for the fields of the form. The message for the file contains the line number. */
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
