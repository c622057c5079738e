import { fileURLToPath } from 'node:url';

/** The root of the repository. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

const URL_OF_FILES = 'https://github.com/framelane/framelane/blob/main';

/** The address of a file or folder of the repository, for readers who do not have it. `path` begins at its root. */
export function repositoryUrl(path: string): string {
  return `${URL_OF_FILES}/${path}`;
}
