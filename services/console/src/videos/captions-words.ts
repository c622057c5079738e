import type { Schemas } from '@framelane/client';
import { languageTagOf } from './language-tag.ts';

type Captions = Schemas['Captions'];
type AutoCaptions = Schemas['AutoCaptions'];

const ORIGINS: Readonly<Record<Captions['origin'], string>> = {
  file: 'from the uploaded file',
  machine: 'made by speech recognition',
  person: 'added to the video',
};

/** The language, the size and the origin of captions. */
export function captionsWords({ language, cues, origin }: Captions): string {
  return `${language} · ${cues} ${cues === 1 ? 'cue' : 'cues'} · ${ORIGINS[origin]}`;
}

/** The label that captions keep when a person has edited them: a machine has not made these. */
export function labelOfEdited({ label, origin }: Captions): string | undefined {
  const isOfMachine = origin === 'machine' && label.endsWith(' (auto-generated)');
  return isOfMachine ? undefined : label;
}

/** What is asked for from speech recognition. */
export function requestedWords({ requestedLanguage }: AutoCaptions): string {
  return requestedLanguage === null
    ? 'Captions by speech recognition'
    : `Captions by speech recognition: ${requestedLanguage}`;
}

/** Captions that are being made, or could not be made. Those that are ready are in the list of captions. */
export function unfinished(all: readonly AutoCaptions[]): AutoCaptions[] {
  return all.filter(({ status }) => status !== 'ready');
}

/** The language under which a request can be withdrawn. */
export function withdrawnAs({ requestedLanguage }: AutoCaptions): string {
  return requestedLanguage ?? 'und';
}

/** Whether a request can be withdrawn without deleting captions of its language. */
export function mayWithdraw(requested: AutoCaptions, captions: readonly Captions[]): boolean {
  return captions.every(({ language }) => language !== withdrawnAs(requested));
}

/** What a person types into the field for languages: tags or English names, separated by commas. Nothing means that the language is detected. */
export function choiceOf(text: string): Schemas['AutoCaptionsChoice'] {
  const languages = text
    .split(',')
    .flatMap((part) => languageTagOf(part) ?? part.split(/\s+/))
    .filter((language) => language !== '');
  return languages.length === 0 ? true : languages;
}
