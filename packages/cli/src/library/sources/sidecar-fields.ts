import { z } from 'zod';
import { CliError } from '../../cli-error.ts';
import type { LibraryItem } from '../library-item.ts';

/** What `x.json` beside a media file can say. Other fields are ignored. */
const sidecar = z.object({
  title: z.string().optional(),
  description: z.string().optional(),
  tags: z.array(z.string()).optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  passthrough: z.string().optional(),
  createdAt: z.iso.datetime({ offset: true }).optional(),
  playbackPolicy: z.enum(['public', 'signed']).optional(),
});

export type SidecarFields = Pick<
  LibraryItem,
  'title' | 'tags' | 'metadata' | 'passthrough' | 'createdAt' | 'fields'
>;

/** Reads a sidecar. Throws a CliError that names the file and what is wrong. */
export function readSidecar(name: string, text: string): SidecarFields {
  const { description, playbackPolicy, metadata, ...others } = parseFile(name, text, sidecar);
  return {
    ...others,
    metadata: { description, ...metadata },
    fields: playbackPolicy === undefined ? {} : { playbackPolicy },
  };
}

/** Parses a JSON file. Throws a CliError that names the file and what is wrong. */
export function parseFile<Schema extends z.ZodType>(
  name: string,
  text: string,
  schema: Schema,
): z.infer<Schema> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new CliError(`${name} is not JSON: ${(cause as Error).message}.`, { cause });
  }
  const { success, data, error } = schema.safeParse(json);
  if (success) return data;
  const { path = [], message = 'invalid' } = error.issues[0] ?? {};
  throw new CliError(`${name}: ${path.join('.') || 'the file'}: ${message}. Correct or delete the file.`);
}
