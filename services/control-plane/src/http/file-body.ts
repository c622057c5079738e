import { promisify } from 'node:util';
import { Problem } from '@framelane/service-kit/problem';
import express, { type Request, type Response } from 'express';

const MIB = 2 ** 20;

/**
 * Reads a body that is a file. Handlers call it after authentication, so that only bodies of clients with a valid key are
 * read. Throws 413 `body_too_large`. `name` is what the message calls the file.
 */
export async function readFileBody(
  req: Request,
  res: Response,
  { name, maxBytes }: { name: string; maxBytes: number },
): Promise<Buffer> {
  try {
    await promisify(express.raw({ type: () => true, limit: maxBytes }))(req, res);
  } catch (error) {
    if ((error as { type?: unknown }).type !== 'entity.too.large') throw error;
    throw new Problem(
      'body_too_large',
      `The file with the ${name} is too large. Send at most ${maxBytes / MIB} MiB.`,
      { closeConnection: true },
    );
  }
  return Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0);
}
