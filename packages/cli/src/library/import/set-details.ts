import { ApiError, type FramelaneClient } from '@framelane/client';
import type { Details } from '../library-item.ts';

/** Statuses that say something about the file: another attempt would get them again. */
const REFUSED = [400, 409, 413, 415];

/** Sets captions, chapters and poster. Resolves with warnings about those that Framelane refuses. */
export async function setDetails(
  client: FramelaneClient,
  videoId: string,
  { captions, chapters, poster, warnings: earlier }: Details,
  signal: AbortSignal,
): Promise<string[]> {
  const warnings = [...earlier];
  const set = (what: string, run: () => Promise<unknown>) => unlessRefused(what, run, warnings);
  for (const { language, label, text, default: isDefault } of captions)
    await set(`The captions ${language}`, () =>
      client.captions.set(videoId, language, text, {
        ...(label && { label: label.slice(0, 100) }),
        ...(isDefault && { default: true }),
        signal,
      }),
    );
  if (chapters !== undefined)
    await set('The chapters', () =>
      client.chapters.set(videoId, typeof chapters === 'string' ? chapters : [...chapters], { signal }),
    );
  if (poster !== undefined)
    await set('The poster', () => client.videos.setPoster(videoId, poster, { signal }));
  return warnings;
}

async function unlessRefused(what: string, run: () => Promise<unknown>, warnings: string[]): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof ApiError) || !REFUSED.includes(error.status)) throw error;
    const [{ field = '', message = '' } = {}] = error.problem.errors ?? [];
    // The detail repeats a single one.
    const more = error.message.includes(message) ? '' : ` (${field}: ${message})`;
    warnings.push(`${what} are refused: ${error.message}${more}`);
  }
}
