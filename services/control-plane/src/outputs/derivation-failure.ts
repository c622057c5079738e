/** Why a derivation has failed for good. The message is one sentence for the log. */
export type DerivationFailure = { code: string; message: string };

/** A derivation has waited for long, and the disk of an engine has no room for it. */
export const NO_DISK_SPACE: DerivationFailure = {
  code: 'no_disk_space',
  message: 'This work has waited for a day, and the disk of an engine has no room for it.',
};
