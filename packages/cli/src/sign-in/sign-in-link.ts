import { CliError } from '../cli-error.ts';

/** What a sign-in link of the console names. */
export type SignInLink = {
  /** URL of the API. */
  baseUrl: string;
  /** The origin that the server expects of the console's requests. */
  origin: string;
  /** Valid once. */
  code: string;
};

/** Reads a link such as `https://video.example.com/console/#code=…`. Throws a CliError for another text, which it does not repeat. */
export function readSignInLink(text: string): SignInLink {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  const [, root] = /^(.*)\/console\/$/.exec(url?.pathname ?? '') ?? [];
  const code = new URLSearchParams(url?.hash.slice(1)).get('code');
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || root === undefined || !code)
    throw new CliError(
      'This is not a sign-in link. It looks like https://video.example.com/console/#code=… and is printed by "framelane start", ' +
        'and by "framelane admin console-link". In a shell, put it in quotes.',
    );
  return { baseUrl: `${url.origin}${root}/v1`, origin: url.origin, code };
}
