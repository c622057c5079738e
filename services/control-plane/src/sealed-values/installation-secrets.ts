import { SealingKeys, type SealingSecret } from '@framelane/contracts/sealing';

/** The secrets of an installation that sealed values need. The previous ones only decrypt and verify. */
export type InstallationSecrets = { current: SealingSecret; previous: readonly SealingSecret[] };

/** The keys for each kind of sealed value. */
export function sealingKeysOf({ current, previous }: InstallationSecrets) {
  const contentKeys = new SealingKeys(current, previous);
  return {
    contentKeys,
    webhookKeys: contentKeys.derive('webhook secrets'),
    importKeys: contentKeys.derive('import requests'),
  };
}
