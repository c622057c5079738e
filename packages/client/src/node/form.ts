import { randomUUID } from 'node:crypto';

/** The bytes around the only file of a form. */
export type Form = { contentType: string; head: Buffer; tail: Buffer };

/** A multipart/form-data body (RFC 7578), the name escaped as browsers do it (HTML §4.10.21.8). */
export function formAround(filename: string): Form {
  const boundary = `framelane-${randomUUID()}`;
  const name = filename.replace(/["\r\n]/g, (character) => encodeURIComponent(character));
  const head = [
    `--${boundary}`,
    `Content-Disposition: form-data; name="file"; filename="${name}"`,
    'Content-Type: application/octet-stream',
    '\r\n',
  ];
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    head: Buffer.from(head.join('\r\n')),
    tail: Buffer.from(`\r\n--${boundary}--\r\n`),
  };
}
