import { canonicalLanguage } from '@framelane/contracts/languages';
import type { components } from '@framelane/openapi/types';
import { invalidField, Problem } from '@framelane/service-kit/problem';

/** The field `autoCaptions` of a request. */
export type AutoCaptionsChoice = components['schemas']['AutoCaptionsChoice'];

/** The languages that a client asks for, canonical; empty if the language is to be detected. Throws 400 for a text that is not a language. */
export function readLanguages(choice: AutoCaptionsChoice | undefined): string[] {
  if (choice === undefined) return [];
  if (!Array.isArray(choice)) return [''];
  const languages = choice.map((text, at) => {
    const language = canonicalLanguage(text);
    if (language !== undefined) return language;
    throw invalidField(
      `body/autoCaptions/${at}`,
      'format',
      'must be a BCP 47 language tag, such as en or pt-BR',
    );
  });
  return [...new Set(languages)];
}

/** Throws 409 `auto_captions_not_configured` unless engines can recognise speech. */
export function requireRecognizer(hasRecognizer: boolean): void {
  if (hasRecognizer) return;
  throw new Problem(
    'auto_captions_not_configured',
    'This installation has no recogniser of speech, so it makes no captions. Its operator can set RECOGNIZER_URL or RECOGNIZER_PROGRAM.',
  );
}
