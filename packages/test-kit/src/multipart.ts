/** Builds multipart bodies by hand, so that tests can make them invalid. */

export const BOUNDARY = 'framelane-test-boundary';

export const CLOSING_BOUNDARY = `--${BOUNDARY}--\r\n`;

/** The head of a file part; the file's bytes and a line break follow. */
export function filePartHead(fileName = 'clip.mp4', fieldName = 'file'): string {
  return [
    `--${BOUNDARY}`,
    `Content-Disposition: form-data; name="${fieldName}"; filename="${fileName}"`,
    'Content-Type: video/mp4',
    '',
    '',
  ].join('\r\n');
}

export function textPart(name: string, value: string): string {
  return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
}

/** A complete form with one file. */
export function formWith(file: Buffer | string, fileName?: string, fieldName?: string): Buffer {
  return joined(filePartHead(fileName, fieldName), file, '\r\n', CLOSING_BOUNDARY);
}

export function joined(...pieces: (Buffer | string)[]): Buffer {
  return Buffer.concat(pieces.map((piece) => Buffer.from(piece)));
}
