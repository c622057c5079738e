import { readdir, stat } from 'node:fs/promises';
import { basename, join, relative, resolve, sep } from 'node:path';
import { CliError } from '../../cli-error.ts';
import { idInFolderName } from '../../export/file-names.ts';
import { EXPORTED_VIDEO_FILE, exportedVideo } from '../exported-video.ts';
import type { BrokenItem, Details, LibraryItem, LibrarySource, SourceContext } from '../library-item.ts';
import { detailsOf } from './details-of.ts';
import { readExported } from './exported.ts';
import { fingerprintOf, readSmallFile, readSmallText } from './local-file.ts';
import { readSidecar, type SidecarFields } from './sidecar-fields.ts';
import { findMedia, type MediaFile, withoutExtension } from './sidecars.ts';

type Place = { root: string; folder: string };

/**
 * The media files of a folder and of its folders. Hidden files and symbolic links are left out: a link could lead anywhere. A folder that
 * `framelane export` has written is one video.
 */
export function folderSource({ signal }: Pick<SourceContext, 'signal'>, root: string): LibrarySource {
  return {
    name: root,
    transfer: 'upload',
    trustedHosts: new Set(),
    items: () => itemsIn({ root, folder: root }, signal),
  };
}

async function* itemsIn(place: Place, signal: AbortSignal): AsyncGenerator<LibraryItem | BrokenItem, void> {
  signal.throwIfAborted();
  const { root, folder } = place;
  const entries = await readdir(folder, { withFileTypes: true }).catch(unreadable(folder));
  if (entries instanceof CliError) {
    // Only the folder that the user has named ends the list: `lost+found` is in many.
    if (folder === root) throw entries;
    yield { id: shownAs(root, folder), name: shownAs(root, folder), error: entries };
    return;
  }
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  if (files.includes(EXPORTED_VIDEO_FILE) && (await isExported(folder))) {
    yield await itemOrError(shownAs(root, folder), (shown) => readExported(folder, shown));
    return;
  }
  // Without this, its source and its renditions would be videos of their own.
  if (idInFolderName(basename(resolve(folder))) !== undefined) {
    const error = new CliError(
      `Its export is not complete: ${EXPORTED_VIDEO_FILE} is missing. Run it again.`,
    );
    yield { id: shownAs(root, folder), name: shownAs(root, folder), error };
    return;
  }
  for (const found of findMedia(files))
    yield await itemOrError(shownAs(root, join(folder, found.media)), (shown) =>
      itemOf(folder, found, shown),
    );
  const folders = entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort();
  for (const name of folders) yield* itemsIn({ root, folder: join(folder, name) }, signal);
}

function unreadable(folder: string): (error: NodeJS.ErrnoException) => CliError {
  return (error) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR')
      return new CliError(`${folder} is not a folder.`);
    const advice = 'Allow this user to read it, or leave it out with --exclude.';
    return new CliError(`${folder} cannot be read: ${error.message}. ${advice}`, { cause: error });
  };
}

/** Whether `video.json` is that of an export. A file that is damaged is reported when it is read. */
async function isExported(folder: string): Promise<boolean> {
  const text = await readSmallText(join(folder, EXPORTED_VIDEO_FILE)).catch(() => '');
  return text.includes(`"${exportedVideo.shape.format.value}"`);
}

/** The path below the root, with slashes. */
function shownAs(root: string, path: string): string {
  return relative(root, path).split(sep).join('/') || '.';
}

async function itemOrError(
  shown: string,
  read: (shown: string) => Promise<LibraryItem>,
): Promise<LibraryItem | BrokenItem> {
  try {
    return await read(shown);
  } catch (error) {
    const reason =
      error instanceof CliError ? error : new CliError(`It cannot be read: ${(error as Error).message}.`);
    return { id: shown, name: shown, error: reason };
  }
}

async function itemOf(folder: string, found: MediaFile, shown: string): Promise<LibraryItem> {
  const path = join(folder, found.media);
  const { size, fingerprint } = await fingerprintOf(path);
  const sidecar: SidecarFields =
    found.json === undefined
      ? {}
      : readSidecar(join(folder, found.json), await readSmallText(join(folder, found.json)));
  return {
    id: `file:${fingerprint}/${found.media}`,
    name: shown,
    filename: found.media,
    size,
    ...sidecar,
    title: sidecar.title ?? withoutExtension(found.media),
    createdAt: sidecar.createdAt ?? (await stat(path)).mtime.toISOString(),
    fields: { ...sidecar.fields, ...(found.audioOnly && { audioOnly: true }) },
    unsupported: size === 0 ? 'The file is empty.' : undefined,
    media: async () => ({ path }),
    details: () => detailsIn(folder, found),
  };
}

function detailsIn(folder: string, { captions, chapters, poster }: MediaFile): Promise<Details> {
  const textOf = (name: string) => () => readSmallText(join(folder, name));
  return detailsOf({
    captions: captions.map(({ name, language }) => ({ language, getText: textOf(name) })),
    chapters: chapters === undefined ? undefined : textOf(chapters),
    poster: poster === undefined ? undefined : () => readSmallFile(join(folder, poster)),
  });
}
