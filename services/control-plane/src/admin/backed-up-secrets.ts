import { z } from 'zod';
import type { InstallationSecrets } from '../sealed-values/installation-secrets.ts';

const secret = z.base64().transform((text) => new Uint8Array(Buffer.from(text, 'base64')));
const schema = z.object({ contentKeySecret: secret, previousContentKeySecrets: z.array(secret) });

/** The secrets of an installation as text, for a backup. */
export function writeSecrets({ current, previous }: InstallationSecrets): string {
  const text = (each: Uint8Array) => Buffer.from(each).toString('base64');
  return JSON.stringify({ contentKeySecret: text(current), previousContentKeySecrets: previous.map(text) });
}

/** The secrets in a text that `writeSecrets` has written. */
export function readSecrets(text: string): InstallationSecrets {
  const { contentKeySecret, previousContentKeySecrets } = schema.parse(JSON.parse(text));
  return { current: contentKeySecret, previous: previousContentKeySecrets };
}
