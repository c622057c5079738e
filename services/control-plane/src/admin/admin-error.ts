/** Something the person at the command line can put right; the message says how. */
export class AdminError extends Error {
  override name = 'AdminError';
}
