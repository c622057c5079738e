import type { Rule } from './rule.ts';
import { ALIGNMENT_RULES } from './rules/alignment.rules.ts';
import { BANDWIDTH_RULES } from './rules/bandwidth.rules.ts';
import { CAPTIONS_RULES } from './rules/captions.rules.ts';
import { CODEC_RULES } from './rules/codec.rules.ts';
import { ENCRYPTION_RULES } from './rules/encryption.rules.ts';
import { I_FRAME_RULES } from './rules/i-frame.rules.ts';
import { MASTER_RULES } from './rules/master.rules.ts';
import { MEDIA_RULES } from './rules/media.rules.ts';
import { PLAYBACK_RULES } from './rules/playback.rules.ts';
import { PLAYLIST_RULES } from './rules/playlist.rules.ts';
import { SEGMENT_RULES } from './rules/segment.rules.ts';
import { SERVICE_RULES } from './rules/service.rules.ts';
import { SESSION_DATA_RULES } from './rules/session-data.rules.ts';

/** Every rule, in the order of the report. */
export const RULES: readonly Rule[] = [
  ...PLAYLIST_RULES,
  ...MASTER_RULES,
  ...BANDWIDTH_RULES,
  ...MEDIA_RULES,
  ...SEGMENT_RULES,
  ...CODEC_RULES,
  ...ALIGNMENT_RULES,
  ...I_FRAME_RULES,
  ...CAPTIONS_RULES,
  ...SESSION_DATA_RULES,
  ...ENCRYPTION_RULES,
  ...PLAYBACK_RULES,
  ...SERVICE_RULES,
];

/** The rules to check: those of the standards, or also those of Framelane. */
export type Profile = 'standard' | 'framelane';

export const PROFILES: readonly Profile[] = ['standard', 'framelane'];

/** Rules Framelane deviates from on purpose, and why; see docs/hls.md. */
const DEVIATIONS: Readonly<Record<string, string>> = {
  'master.cellular-variant': 'the variants begin at 360p',
  'master.several-variants': 'a source below 480p has one variant',
};

/** Whether a profile has a rule. */
export function appliesTo({ level }: Pick<Rule, 'level'>, profile: Profile): boolean {
  return profile === 'framelane' || level !== 'own';
}

/** Why a profile skips a rule; undefined if it does not. */
export function deviation({ id }: Pick<Rule, 'id'>, profile: Profile): string | undefined {
  return profile === 'framelane' ? DEVIATIONS[id] : undefined;
}
