/** Why a derivation has failed for good. The message is one sentence for the log. */
export type DerivationFailure = { code: string; message: string };

/** No engine has had room for a derivation for a long time. */
export const NO_DISK_SPACE: DerivationFailure = {
  code: 'no_disk_space',
  message: 'No engine has had room on its disk for this work for a day.',
};
