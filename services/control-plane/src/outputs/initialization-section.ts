/** The initialization section of a row, as the internal API and the manifest have it; nothing if the row has none. */
export function inBase64(initialization: Buffer | null): { initialization?: string } {
  return initialization === null ? {} : { initialization: initialization.toString('base64') };
}
