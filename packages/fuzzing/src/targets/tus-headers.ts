import { type IncomingHttpHeaders, validateHeaderValue } from 'node:http';
import {
  readChecksum,
  readCreation,
  readOffset,
  requirePart,
  requireVersion,
} from '@framelane/engine/resumable-uploads/tus-headers';
import { Problem } from '@framelane/service-kit/problem';
import { expectThat, refusedWith } from '../promises.ts';
import type { Target } from '../target.ts';

/** Bytes that Node refuses in the value of a header. */
const REFUSED_BYTES = /[^\t\x20-\x7e\x80-\xff]/;

/** Headers, one in each line. */
export const target: Target = {
  maxBytes: 600,
  steps: { fixed: 200, perByte: 10 },
  dictionary: [
    'tus-resumable:',
    'upload-length:',
    'upload-offset:',
    'upload-metadata:',
    'upload-checksum:',
    'upload-concat:',
    'upload-defer-length:',
    'content-type:',
    'application/offset+octet-stream',
    'sha1 ',
    'sha256 ',
    'md5 ',
    '1.0.0',
    '=',
    ',',
    '\n',
    '9007199254740993',
    '-1',
    '1e3',
    ' ',
  ],
  seeds: [
    'tus-resumable:1.0.0\nupload-length:12\nupload-metadata:filename YQ==',
    'upload-offset:0\ncontent-type:application/offset+octet-stream\nupload-checksum:sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0=',
  ],
  run: (input) => {
    const headers = headersOf(input.toString('latin1'));
    refusedWith([Problem], () => requireVersion(headers));
    refusedWith([Problem], () => requirePart(headers));
    const offset = refusedWith([Problem], () => readOffset(headers));
    expectThat(
      offset === undefined || (Number.isSafeInteger(offset) && offset >= 0),
      'an offset is a position in a file',
    );
    const creation = refusedWith([Problem], () => readCreation(headers));
    if (creation !== undefined) {
      expectThat(Number.isSafeInteger(creation.length) && creation.length > 0, 'a length is that of a file');
      // It is sent back as it came.
      validateHeaderValue('Upload-Metadata', creation.metadata);
    }
    refusedWith([Problem], () => readChecksum(headers));
  },
};

/** As Node reads them: of a repeated header, the values are joined. */
function headersOf(text: string): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {};
  for (const line of text.split('\n')) {
    const at = line.indexOf(':');
    if (at <= 0 || REFUSED_BYTES.test(line)) continue;
    const [name, value] = [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return headers;
}
