import { UsageError } from '../cli-error.ts';

/** The language of a file: the given one, or the one in its name, as in `talk.en.vtt`. The server checks that it is a language. */
export function captionsLanguage(filename: string, given: string | undefined): string {
  const [, named] = /\.([a-z]{2,3}(?:-[a-z0-9]{2,8})*)\.[a-z]+$/i.exec(filename) ?? [];
  const language = given ?? named;
  if (language !== undefined) return language;
  throw new UsageError(
    `The name of the file does not say its language. Add --language, such as --language en.`,
  );
}
