import { once } from 'node:events';
import http, { type ClientRequest } from 'node:http';
import https from 'node:https';
import type { UploadTicket } from '@framelane/client';

const BOUNDARY = 'framelane-acceptance-boundary';
const HEAD = [
  `--${BOUNDARY}`,
  'Content-Disposition: form-data; name="file"; filename="clip.mp4"',
  'Content-Type: video/mp4',
  '',
  '',
].join('\r\n');
const TAIL = `\r\n--${BOUNDARY}--\r\n`;

/** An upload that pauses with its connection open. */
export class HeldUpload {
  readonly #request: ClientRequest;

  private constructor(request: ClientRequest) {
    this.#request = request;
  }

  /** Sends the head for the whole file, waits for 100 Continue, and sends the first part of the bytes. */
  static async begin(
    { uploadUrl, uploadToken }: UploadTicket,
    file: Buffer,
    fraction: number,
  ): Promise<HeldUpload> {
    const { request } = uploadUrl.startsWith('https:') ? https : http;
    const upload = request(uploadUrl, {
      method: 'POST',
      agent: false,
      headers: {
        'X-Upload-Token': uploadToken,
        'Content-Type': `multipart/form-data; boundary=${BOUNDARY}`,
        'Content-Length': HEAD.length + file.length + TAIL.length,
        Expect: '100-continue',
      },
    });
    upload.flushHeaders();
    await once(upload, 'continue');
    upload.write(HEAD);
    const part = file.subarray(0, Math.floor(file.length * fraction));
    await new Promise<void>((resolve, reject) => {
      upload.write(part, (error) => (error ? reject(error) : resolve()));
    });
    return new HeldUpload(upload);
  }

  /** Closes the connection at once. */
  cut(): void {
    // The test wants no response.
    this.#request.on('error', () => {});
    this.#request.destroy();
  }
}
