import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { CliError } from '../../cli-error.ts';
import { EXPORTED_VIDEO_FILE, type ExportedVideo, exportedVideo } from '../exported-video.ts';
import type { Details, FramelaneFields, LibraryItem } from '../library-item.ts';
import { readSmallFile, readSmallText } from './local-file.ts';
import { parseFile } from './sidecar-fields.ts';

const chapterList = z.object({ chapters: z.array(z.object({ start: z.number(), title: z.string() })) });

/** The video in a folder that `framelane export` has written. `shown` is the folder in reports. */
export async function readExported(folder: string, shown: string): Promise<LibraryItem> {
  const path = join(folder, EXPORTED_VIDEO_FILE);
  const exported = parseFile(path, await readSmallText(path), exportedVideo);
  const { record, files } = exported;
  const media = files.source ?? files.downloads[0];
  return {
    id: `framelane:${record.id}`,
    name: shown,
    title: record.title,
    filename: record.filename,
    tags: record.tags,
    metadata: record.metadata,
    passthrough: record.passthrough ?? undefined,
    createdAt: record.createdAt,
    size: media?.bytes,
    fields: fieldsOf(exported),
    unsupported: await reasonAgainst(folder, media),
    warnings: warningsAbout(exported),
    media: async () => ({ path: join(folder, media?.name ?? '') }),
    details: () => detailsIn(folder, exported),
  };
}

/** An export that was copied in part has files that are too short. */
async function reasonAgainst(
  folder: string,
  media: { name: string; bytes: number } | undefined,
): Promise<string | undefined> {
  if (media === undefined) return 'The export has no media file of it.';
  const { name, bytes } = media;
  const found = await lstat(join(folder, name)).catch(() => undefined);
  if (!found?.isFile()) return `${name} is missing, or is no file. Copy the export again.`;
  if (found.size !== bytes) return `${name} has ${found.size} of ${bytes} bytes. Copy the export again.`;
  return undefined;
}

/** The path of a small file of the export. Throws for a symbolic link, which could lead anywhere. */
async function ownFile(folder: string, name: string): Promise<string> {
  const path = join(folder, name);
  if (!(await lstat(path)).isFile()) throw new CliError(`${path} is no file. Copy the export again.`);
  return path;
}

function fieldsOf({ record, files }: ExportedVideo): FramelaneFields {
  const { playbackPolicy, allowedOrigins, keepSource, audioOnly, trim } = record;
  return {
    playbackPolicy,
    ...(allowedOrigins && { allowedOrigins }),
    ...(keepSource !== undefined && { keepSource }),
    ...(audioOnly && { audioOnly }),
    // A rendition is trimmed already.
    ...(trim && files.source && { trim: { start: trim.start, end: trim.end ?? null } }),
  };
}

function warningsAbout({ record, files }: ExportedVideo): string[] {
  if (!record.watermark || !files.source) return [];
  return ['Its watermark is not moved: the export has the file as it was uploaded.'];
}

async function detailsIn(
  folder: string,
  { record, files: { captions, chapters, poster } }: ExportedVideo,
): Promise<Details> {
  const chaptersPath = chapters && (await ownFile(folder, chapters.name));
  return {
    captions: await Promise.all(
      captions.map(async ({ name, language, label, default: isDefault }) => ({
        language,
        label,
        default: isDefault,
        text: await readSmallText(await ownFile(folder, name)),
      })),
    ),
    chapters:
      chaptersPath === undefined
        ? undefined
        : parseFile(chaptersPath, await readSmallText(chaptersPath), chapterList).chapters,
    poster:
      record.poster == null || poster === undefined
        ? undefined
        : await readSmallFile(await ownFile(folder, poster.name)),
    warnings: [],
  };
}
