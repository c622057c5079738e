/** The texts of an uploader, in English. `{…}` are replaced. */
export const DEFAULT_WORDS = {
  label: 'Upload videos',
  chooseOne: 'Choose a file',
  chooseSeveral: 'Choose files',
  drop: 'or drop it here',
  dropSeveral: 'or drop them here',
  files: 'Files',
  progress: 'Upload of {name}',
  waiting: 'Waiting',
  sending: '{percent} % of {size}',
  paused: 'Paused at {percent} % of {size}',
  sent: '{size} · uploaded',
  pause: 'Pause',
  resume: 'Resume',
  retry: 'Retry',
  cancel: 'Cancel',
  remove: 'Remove',
  /** The name of a button for screen readers, such as "Pause holiday.mp4". */
  actionOn: '{action} {name}',
  announceSent: '{name} is uploaded.',
  announceFailed: '{name}: {reason}',
  announceRemoved: '{name} is removed.',
  valueMissing: 'Upload a file.',
  stillUploading: 'Wait until all files are uploaded, or cancel the others.',
  fileType: 'Files of this type are not accepted. Choose a video.',
  folder: 'A folder cannot be uploaded. Choose the files in it.',
  emptyFile: 'The file is empty. Choose another one.',
  unreadable: 'The file cannot be read any more. It may have been moved or changed. Choose it again.',
  notSetUp: 'Uploads are not set up on this page. Tell the owner of the page.',
  notAllowed: 'You may not upload here. Sign in, then retry.',
  tooMany: 'Too many uploads were started. Wait a minute, then retry.',
  serverFailed: 'The server has a problem. Retry in a minute.',
  connection: 'The connection was lost. Check it, then retry. The upload continues where it stopped.',
} as const;

/** The name of a text. */
export type WordName = keyof typeof DEFAULT_WORDS;

/** Texts by their names. `error:quota_exceeded` and so on are the texts for the `code` of an error. */
export type Words = Record<WordName, string> & {
  [code: `error:${string}`]: string | undefined;
};

/** The default texts with some replaced. Throws a TypeError for a name that does not exist or a text that is not one. */
export function wordsWith(changes: unknown): Words {
  if (typeof changes !== 'object' || changes === null || Array.isArray(changes))
    throw new TypeError(
      'words of <framelane-uploader> must be an object of texts, as JSON in the attribute.',
    );
  for (const [name, text] of Object.entries(changes)) {
    const isKnown = Object.hasOwn(DEFAULT_WORDS, name) || name.startsWith('error:');
    if (!isKnown || typeof text !== 'string')
      throw new TypeError(`words of <framelane-uploader> has no text with the name ${name}.`);
  }
  return { ...DEFAULT_WORDS, ...changes };
}

/** A text with the values of its `{…}`. */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w{1,20})\}/g, (whole, name) => String(values[name] ?? whole));
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];

/** A size as the language writes it. */
export function formatBytes(bytes: number, language: string | undefined): string {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const options = { style: 'unit', unit: UNITS[power] ?? 'byte', maximumFractionDigits: 1 } as const;
  return numberFormat(language, options).format(bytes / 1000 ** power);
}

/** `lang` of a page can be wrong; the language of the browser is then better than none. */
function numberFormat(language: string | undefined, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  try {
    return new Intl.NumberFormat(language, options);
  } catch {
    return new Intl.NumberFormat(undefined, options);
  }
}
