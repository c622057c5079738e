/** Control characters (Cc): terminals interpret them. */
const CONTROL = String.raw`\p{Cc}`;

/** Marks, embeddings, overrides and isolates that reorder text (Unicode Standard Annex #9), and line separators. */
const REORDERING = String.raw`\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\u2028\u2029`;

const UNSAFE = new RegExp(`[${CONTROL}${REORDERING}]`, 'gu');
/** JSON.stringify escapes control characters below U+0020 in strings; the others are indentation and newlines. */
const UNSAFE_IN_JSON = new RegExp(String.raw`[\u007F-\u009F${REORDERING}]`, 'gu');

/** Makes untrusted text safe to print on one line: escapes characters that would move the cursor or reorder the line. */
export function terminalText(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** Makes JSON safe to print. It escapes with JSON's own escapes, so the value stays the same. */
export function terminalJson(json: string): string {
  return json.replace(UNSAFE_IN_JSON, escaped);
}

/** The output of a command-line program. It is no error if the reader, such as `head`, has closed the pipe. */
export function terminalOutput(): { write(text: string): void; writeError(text: string): void } {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
  return {
    write: (text) => void process.stdout.write(text),
    writeError: (text) => void process.stderr.write(text),
  };
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
