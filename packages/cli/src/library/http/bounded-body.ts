import type { IncomingMessage } from 'node:http';
import { brokenConnection } from './checked-request.ts';
import { TransferError } from './transfer-error.ts';

/** Reads the text of a response. Stops and throws a TransferError when it has more than `maxBytes`, or is not UTF-8. */
export async function boundedBody(
  response: IncomingMessage,
  { server, maxBytes }: { server: string; maxBytes: number },
): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw brokenConnection(server, error as Error);
  }
  if (bytes > maxBytes)
    throw new TransferError(`The response of ${server} has more than ${maxBytes / 1024 ** 2} MiB.`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw new TransferError(`The response of ${server} is not UTF-8 text.`, { cause });
  }
}
