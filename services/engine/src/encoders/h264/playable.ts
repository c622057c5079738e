/** Level 4.2, in tenths. */
export const MAX_LEVEL = 42;

/** `profile_idc` of Main and of High. */
const PROFILES = [77, 100];

/** Why the decoders of phones may refuse a stream of H.264 with this codec string; null if they do not. */
export function playbackObstacle(codecs: string): string | null {
  const [, hex = ''] = /^avc1\.([0-9a-f]{6})$/.exec(codecs) ?? [];
  const [profile = 0, , level = 0] = Buffer.from(hex, 'hex');
  if (!PROFILES.includes(profile)) return `it declares the profile ${profile}, not High (${codecs})`;
  return level > MAX_LEVEL ? `it declares the level ${level / 10}, above 4.2 (${codecs})` : null;
}
