import type { Account } from '@framelane/service-kit/system-account';
import { httpRecognizer } from './http-recognizer.ts';
import { programRecognizer } from './program-recognizer.ts';
import type { Recognizer } from './recognizer.ts';
import type { RecognizerSettings } from './recognizer-settings.ts';

/** What a recogniser needs of this machine. */
type Host = {
  /** The launch script of a local program. */
  script: string | undefined;
  account: Account | null;
  threads: number;
  apiKey: string | undefined;
};

/** The recogniser of these settings; undefined without any. */
export function createRecognizer(
  settings: RecognizerSettings | undefined,
  { script, account, threads, apiKey }: Host,
): Recognizer | undefined {
  if (settings === undefined) return undefined;
  if (settings.kind === 'http') return httpRecognizer(settings, apiKey);
  if (script === undefined) throw new Error('The recogniser has no launch script');
  return programRecognizer(script, { ...settings, threads, account });
}
