import type { GetObjectCommandOutput, S3Client } from '@aws-sdk/client-s3';
import { CliError } from '../../cli-error.ts';
import type { BrokenItem, LibraryItem, LibrarySource, SourceContext } from '../library-item.ts';
import { detailsOf } from './details-of.ts';
import { utf8Text } from './local-file.ts';
import { readSidecar, type SidecarFields } from './sidecar-fields.ts';
import { findMedia, type MediaFile, withoutExtension } from './sidecars.ts';

/** Enough for a file that waits for its turn; AWS allows up to seven days. */
const URL_SECONDS = 24 * 60 * 60;
const MAX_SIDECAR_BYTES = 2 * 1024 ** 2;

type Options = { location: string; endpoint?: string | undefined; region?: string | undefined };
type StoredObject = { name: string; size: number; modifiedAt: Date };

/** What the source needs of the AWS SDK, which is loaded only when it is used. */
type Bucket = {
  name: string;
  list(prefix: string): AsyncIterable<{ key: string; size: number; modifiedAt: Date }>;
  text(key: string): Promise<string>;
  bytes(key: string): Promise<Uint8Array>;
  url(key: string): Promise<string>;
};

/**
 * The media files below a prefix of a bucket. Endpoint, region and credentials are those that the AWS command line would use, unless they are
 * given. Files are fetched from signed URLs that expire after a day.
 */
export async function s3Source({ env, signal }: SourceContext, options: Options): Promise<LibrarySource> {
  const { bucket, prefix } = readLocation(options.location);
  const endpoint = options.endpoint ?? (env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || undefined);
  const url = endpoint === undefined ? undefined : readEndpoint(endpoint);
  const { S3Client } = await import('@aws-sdk/client-s3');
  const client = new S3Client({
    // Only AWS has a host for each bucket everywhere.
    ...(url && { endpoint: url.href, forcePathStyle: true }),
    ...(options.region !== undefined && { region: options.region }),
  });
  return {
    name: `s3://${bucket}/${prefix}`,
    transfer: 'url',
    trustedHosts: new Set(url ? [url.hostname] : []),
    items: () => items(openBucket(client, bucket, signal), prefix),
  };
}

function readEndpoint(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return url;
  throw new CliError(`"${text}" is not the URL of an S3 server. Use one such as https://minio.example.com.`);
}

/** `s3://bucket/prefix`. */
export function readLocation(text: string): { bucket: string; prefix: string } {
  const match = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text);
  if (match === null) throw new CliError(`"${text}" is no place in S3. Use one such as s3://bucket/prefix.`);
  return { bucket: match[1] ?? '', prefix: match[2] ?? '' };
}

/** Sidecars are in the same folder, and S3 lists the keys of a folder among those of the folders in it: the whole list is read first. */
async function* items(bucket: Bucket, prefix: string): AsyncGenerator<LibraryItem | BrokenItem, void> {
  const folders = new Map<string, StoredObject[]>();
  for await (const { key, size, modifiedAt } of bucket.list(prefix)) {
    const slash = key.lastIndexOf('/') + 1;
    const folder = key.slice(0, slash);
    const objects = folders.get(folder) ?? [];
    objects.push({ name: key.slice(slash), size, modifiedAt });
    folders.set(folder, objects);
  }
  for (const [folder, objects] of folders) {
    if (
      folder
        .slice(prefix.lastIndexOf('/') + 1)
        .split('/')
        .some((part) => part.startsWith('.'))
    )
      continue;
    const byName = new Map(objects.map((object) => [object.name, object]));
    for (const found of findMedia([...byName.keys()])) {
      const object = byName.get(found.media);
      if (object !== undefined) yield await itemOrError(bucket, folder, found, object);
    }
  }
}

async function itemOrError(
  bucket: Bucket,
  folder: string,
  found: MediaFile,
  object: StoredObject,
): Promise<LibraryItem | BrokenItem> {
  const key = `${folder}${found.media}`;
  try {
    const sidecar =
      found.json === undefined ? {} : readSidecar(found.json, await bucket.text(`${folder}${found.json}`));
    return itemOf(bucket, { folder, key, found, object, sidecar });
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { id: key, name: key, error };
  }
}

function itemOf(
  bucket: Bucket,
  {
    folder,
    key,
    found,
    object,
    sidecar,
  }: { folder: string; key: string; found: MediaFile; object: StoredObject; sidecar: SidecarFields },
): LibraryItem {
  const { chapters, poster, captions } = found;
  return {
    id: `s3:${bucket.name}/${key}`,
    name: key,
    filename: found.media,
    size: object.size,
    ...sidecar,
    title: sidecar.title ?? withoutExtension(found.media),
    createdAt: sidecar.createdAt ?? object.modifiedAt.toISOString(),
    fields: { ...sidecar.fields, ...(found.audioOnly && { audioOnly: true }) },
    unsupported: object.size === 0 ? 'The object is empty.' : undefined,
    media: async () => ({ url: await bucket.url(key) }),
    details: () =>
      detailsOf({
        captions: captions.map(({ name, language }) => ({
          language,
          getText: () => bucket.text(`${folder}${name}`),
        })),
        chapters: chapters === undefined ? undefined : () => bucket.text(`${folder}${chapters}`),
        poster: poster === undefined ? undefined : () => bucket.bytes(`${folder}${poster}`),
      }),
  };
}

function openBucket(client: S3Client, name: string, abortSignal: AbortSignal): Bucket {
  const read = async (key: string): Promise<GetObjectCommandOutput> => {
    const { GetObjectCommand } = await import('@aws-sdk/client-s3');
    const object = await client
      .send(new GetObjectCommand({ Bucket: name, Key: key }), { abortSignal })
      .catch(explained);
    if ((object.ContentLength ?? 0) <= MAX_SIDECAR_BYTES) return object;
    (object.Body as { destroy?: () => void } | undefined)?.destroy?.();
    throw new CliError(`${key} has more than 2 MiB.`);
  };
  const bytes = async (key: string) =>
    (await (await read(key)).Body?.transformToByteArray()) ?? new Uint8Array();
  return {
    name,
    async *list(prefix) {
      const { paginateListObjectsV2 } = await import('@aws-sdk/client-s3');
      const pages = paginateListObjectsV2(
        { client, stopOnSameToken: true },
        { Bucket: name, Prefix: prefix },
        { abortSignal },
      );
      try {
        for await (const { Contents = [] } of pages)
          for (const { Key, Size = 0, LastModified = new Date(0) } of Contents)
            if (Key !== undefined) yield { key: Key, size: Size, modifiedAt: LastModified };
      } catch (error) {
        explained(error);
      }
    },
    text: async (key) => utf8Text(key, await bytes(key)),
    bytes,
    url: async (key) => {
      const [{ GetObjectCommand }, { getSignedUrl }] = await Promise.all([
        import('@aws-sdk/client-s3'),
        import('@aws-sdk/s3-request-presigner'),
      ]);
      const command = new GetObjectCommand({ Bucket: name, Key: key });
      return getSignedUrl(client, command, { expiresIn: URL_SECONDS });
    },
  };
}

/** An error of the SDK in words. Its message names no secret. */
function explained(error: unknown): never {
  const { name, message } = error as Error;
  if (name === 'AbortError') throw error;
  const hints: Record<string, string> = {
    CredentialsProviderError:
      'Sign in as for the AWS command line, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
    AccessDenied: 'The credentials need s3:ListBucket and s3:GetObject.',
    NoSuchBucket: 'Check the name of the bucket, and --endpoint.',
    PermanentRedirect: 'The bucket is in another region: set --region.',
  };
  const sentence = (message || name).replace(/\.?$/, '.');
  throw new CliError(`S3: ${sentence} ${hints[name] ?? 'Check bucket, region and credentials.'}`, {
    cause: error,
  });
}
