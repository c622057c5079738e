import type { Database } from '../db/database.ts';
import type { VideoRow } from '../db/schema.ts';
import { withdrawAutoCaptions } from '../outputs/auto-captions.ts';
import { endDerivations } from '../tasks/derivations.ts';

/**
 * Forgets what a machine was asked for in a language of a locked video; an engine that works on it stops, and its result is ignored. Resolves with
 * whether there was such a request.
 */
export async function withdrawCaptions(trx: Database, video: VideoRow, language: string): Promise<boolean> {
  const withdrawn = await withdrawAutoCaptions(trx, video.id, language);
  for (const requested of withdrawn) await endDerivations(trx, video, { kind: 'transcript', requested });
  return withdrawn.length > 0;
}
