import { BOUNDARY, CLOSING_BOUNDARY, joined } from '@framelane/test-kit/multipart';
import fc, { type Arbitrary } from 'fast-check';

/** One upload, valid or not. */
export type UploadPlan = {
  /** The token of the ticket, another one, or none. */
  token: 'own' | { other: string } | undefined;
  contentType: string;
  chunked: boolean;
  /** Size in bytes of the chunks of the body. */
  pieceBytes: number;
  body: Buffer;
  /** The client disconnects after this many bytes. */
  cutAt: number | undefined;
  /** The file of a valid form; undefined if the form may be invalid. */
  file: Buffer | undefined;
};

/** Bytes of a body to print. */
const SHOWN_BYTES = 2_000;

const VALID_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

/** Generates uploads: a quarter are valid, the others have random changes, most of which make them invalid. */
export function uploadPlans(): Arbitrary<UploadPlan> {
  return fc.oneof({ weight: 1, arbitrary: validUpload() }, { weight: 3, arbitrary: changedUpload() });
}

/** An upload as readable text. */
export function describeUpload({ token, contentType, chunked, body, cutAt }: UploadPlan): string {
  return [
    `X-Upload-Token: ${token === undefined || token === 'own' ? (token ?? 'none') : token.other}`,
    `Content-Type: ${contentType}`,
    chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.byteLength}`,
    ...(cutAt === undefined ? [] : [`# the client disconnects after ${cutAt} bytes`]),
    JSON.stringify(body.subarray(0, SHOWN_BYTES).toString('latin1')),
  ].join('\n');
}

function validUpload(): Arbitrary<UploadPlan> {
  return fc
    .record({
      file: fileContent().filter((content) => content.byteLength > 0),
      name: ordinaryText(),
      fileName: ordinaryText(),
      before: fc.array(textPart(ordinaryText(), ordinaryText()), { maxLength: 3 }),
      after: fc.array(textPart(ordinaryText(), ordinaryText()), { maxLength: 3 }),
      ...transport(),
    })
    .map(({ file, name, fileName, before, after, ...rest }) => ({
      ...rest,
      token: 'own' as const,
      contentType: VALID_TYPE,
      body: joined(
        ...before,
        head(name, `; filename="${fileName}"`),
        file,
        '\r\n',
        ...after,
        CLOSING_BOUNDARY,
      ),
      cutAt: undefined,
      file,
    }));
}

function changedUpload(): Arbitrary<UploadPlan> {
  const mostly = <T>(valid: T, invalid: Arbitrary<T>) =>
    fc.oneof({ weight: 5, arbitrary: fc.constant(valid) }, { weight: 1, arbitrary: invalid });
  return fc
    .record({
      token: mostly<UploadPlan['token']>(
        'own',
        fc.option(fc.record({ other: headerText() }), { nil: undefined }),
      ),
      contentType: mostly(VALID_TYPE, invalidType()),
      preamble: mostly('', fc.constantFrom('\r\n', 'preamble\r\n', '-', '\0'.repeat(1_000))),
      parts: fc.array(fc.oneof(textPart(hostileText(), hostileText()), filePart(), invalidPart()), {
        maxLength: 4,
      }),
      end: mostly(
        CLOSING_BOUNDARY,
        fc.constantFrom('', `--${BOUNDARY}`, `--${BOUNDARY}\r\n`, `${CLOSING_BOUNDARY}epilogue`, '--\r\n'),
      ),
      cut: mostly<number | undefined>(undefined, fc.double({ min: 0, max: 1, noNaN: true })),
      ...transport(),
    })
    .map(({ preamble, parts, end, cut, ...rest }) => {
      const body = joined(preamble, ...parts, end);
      const cutAt = cut === undefined ? undefined : Math.floor(cut * body.byteLength);
      return { ...rest, body, cutAt, file: undefined };
    });
}

function transport() {
  return { chunked: fc.boolean(), pieceBytes: fc.constantFrom(1_000, 16_384, 65_536, 1_000_000) };
}

function invalidType(): Arbitrary<string> {
  return fc.oneof(
    fc.constantFrom(
      'multipart/form-data',
      'multipart/form-data; boundary=',
      'multipart/form-data; boundary=other',
      `multipart/form-data; boundary="${BOUNDARY}`,
      `multipart/form-data; boundary=${'x'.repeat(3_000)}`,
      `multipart/form-data; charset=utf-16; boundary=${BOUNDARY}`,
      `multipart/mixed; boundary=${BOUNDARY}`,
      'application/x-www-form-urlencoded',
      'application/json',
      'video/mp4',
      '',
    ),
    headerText(),
  );
}

/** A file part with an unusual or hostile file name. */
function filePart(): Arbitrary<Buffer> {
  const fileName = fc.oneof(
    hostileText().map((text) => `; filename="${text}"`),
    hostileText().map((text) => `; filename=${text}`),
    fc.constantFrom(
      '; filename=""',
      '; filename=".."',
      '; filename="../../etc/passwd"',
      '; filename="a.mp4"; filename="b.mp4"',
      "; filename*=utf-8''%zz",
      "; filename*=utf-16''a%00.mp4",
      `; filename="${'x'.repeat(20_000)}"`,
    ),
  );
  return fc
    .tuple(hostileText(), fileName, fileContent())
    .map(([name, parameter, content]) => joined(head(name, parameter), content, '\r\n'));
}

function invalidPart(): Arbitrary<Buffer> {
  const heads = fc.constantFrom(
    '',
    'Content-Disposition: form-data',
    'Content-Disposition: form-data; filename="a.mp4"',
    'Content-Disposition: attachment; name="file"; filename="a.mp4"',
    'Content-Disposition form-data; name="file"',
    'Content-Disposition: form-data; name="a[b][c][d][e][f][g]"',
    'Content-Disposition: form-data; name="a[999999999]"',
    'Content-Disposition: form-data; name="__proto__[x]"',
    'Content-Disposition: form-data; name="file"; filename="a.mp4"\r\nContent-Transfer-Encoding: base64',
    'Content-Disposition: form-data; name="file"; filename="a.mp4"\r\nContent-Type: \0',
    'Content-Disposition: form-data; name="file"; filename="a.mp4"\nX: y',
    `X-Long: ${'x'.repeat(100_000)}`,
    'X: y\r\n'.repeat(300),
  );
  return fc
    .tuple(heads, hostileText())
    .map(([lines, content]) => joined(`--${BOUNDARY}\r\n${lines}\r\n\r\n`, content, '\r\n'));
}

function textPart(name: Arbitrary<string>, value: Arbitrary<string>): Arbitrary<Buffer> {
  return fc.tuple(name, value).map(([key, text]) => joined(head(key, '', ''), text, '\r\n'));
}

function head(name: string, parameters: string, type = 'Content-Type: video/mp4\r\n'): string {
  return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${parameters}\r\n${type}\r\n`;
}

/** Bytes that resemble a boundary. A client chooses a boundary that its file does not contain. */
function fileContent(): Arbitrary<Buffer> {
  const almost = `\r\n--${BOUNDARY.slice(0, -1)}`;
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)),
    fc.constantFrom('\r', '\n', '\r\n--', almost, '\0').map((text) => Buffer.from(text)),
  );
  return fc
    .tuple(fc.array(piece, { maxLength: 6 }), fc.constantFrom(1, 1, 10, 3_000))
    .map(([pieces, times]) => Buffer.concat(Array(times).fill(Buffer.concat(pieces))));
}

/** A name or text without characters that need quoting. */
function ordinaryText(): Arbitrary<string> {
  return fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
    .map((text) => text.replace(/["\\\p{Cc}]/gu, '_'));
}

function hostileText(): Arbitrary<string> {
  return fc.oneof(
    { weight: 2, arbitrary: ordinaryText() },
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.constantFrom('', '"', '\\"', '\0', '\r\n', `\r\n--${BOUNDARY}\r\n`, '__proto__', 'x'.repeat(20_000)),
  );
}

/** Printable ASCII, which HTTP allows in a header. */
function headerText(): Arbitrary<string> {
  return fc
    .string({ unit: 'binary-ascii', maxLength: 60 })
    .map((text) => text.replace(/\p{Cc}/gu, '').trim());
}
