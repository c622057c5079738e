import type { components } from '@framelane/openapi/types';
import { Problem, unavailable } from '@framelane/service-kit/problem';

/** The quotas of a workspace with the usage that counts against them. */
export type Limits = components['schemas']['Limits'];
export type QuotaName = keyof Limits;

/** The maximum of each quota; null means unlimited. */
export type Quotas = Record<QuotaName, number | null>;

export const UNLIMITED: Quotas = {
  storedBytes: null,
  transcodedMinutes: null,
  videos: null,
  uploads: null,
  fileBytes: null,
};

/** The usage that counts against the quotas of a workspace now. */
export type Used = {
  storedBytes: number;
  /** Bytes that open tickets reserve for their files, and derivations for their output. */
  reservedBytes: number;
  /** Bytes of ended transfers that wait for a purge. */
  unpurgedBytes: number;
  /** In this calendar month (UTC). */
  transcodedMs: number;
  videos: number;
  /** Videos that wait for their file, with a ticket that has not expired. */
  uploads: number;
};

type UsedBytes = Pick<Used, 'storedBytes' | 'reservedBytes' | 'unpurgedBytes'>;

/** The maximum and the used amount of each quota, as the API shows them. */
export function toLimits(quotas: Quotas, used: Used): Limits {
  return {
    storedBytes: {
      limit: quotas.storedBytes,
      used: used.storedBytes,
      reserved: used.reservedBytes + used.unpurgedBytes,
    },
    transcodedMinutes: { limit: quotas.transcodedMinutes, used: toMinutes(used.transcodedMs) },
    videos: { limit: quotas.videos, used: used.videos },
    uploads: { limit: quotas.uploads, used: used.uploads },
    fileBytes: { limit: quotas.fileBytes },
  };
}

/** Throws 403 `quota_exceeded` unless the workspace may have another video. `bytes` is the size of its file, if known. */
export function requireRoomForVideo(quotas: Quotas, used: Used, bytes: number | null): void {
  requireFileSize(quotas, bytes ?? 0);
  if (isReached(quotas.videos, used.videos)) throw exceeded('videos', quotas.videos, used.videos, 1);
  if (isReached(quotas.uploads, used.uploads)) throw exceeded('uploads', quotas.uploads, used.uploads, 1);
  requireRoomForBytes(quotas, used, bytes);
  requireMinutes(quotas, used.transcodedMs);
}

/** Throws 403 `quota_exceeded` for a file that is larger than the workspace may upload. */
export function requireFileSize({ fileBytes }: Quotas, bytes: number): void {
  if (fileBytes !== null && bytes > fileBytes) throw exceeded('fileBytes', fileBytes, null, bytes);
}

/**
 * Throws 403 `quota_exceeded` unless the workspace may store `bytes` more; if the size is unknown, at least one byte
 * more. Throws 503 if it may do so as soon as ended transfers are purged, which takes seconds.
 */
export function requireRoomForBytes({ storedBytes }: Quotas, used: UsedBytes, bytes: number | null): void {
  if (storedBytes === null) return;
  const taken = used.storedBytes + used.reservedBytes;
  if (!hasRoomForBytes({ storedBytes }, used, bytes))
    throw exceeded('storedBytes', storedBytes, taken, bytes);
  requirePurged({ storedBytes }, used, bytes);
}

/** Whether the workspace may store `bytes` more once ended transfers are purged; if the size is unknown, at least one byte more. */
export function hasRoomForBytes(
  { storedBytes }: Pick<Quotas, 'storedBytes'>,
  used: Pick<UsedBytes, 'storedBytes' | 'reservedBytes'>,
  bytes: number | null,
): boolean {
  return storedBytes === null || used.storedBytes + used.reservedBytes + (bytes ?? 1) <= storedBytes;
}

/** Throws 503 while ended transfers that wait for a purge take the room of `bytes` more, or of one byte if the size is unknown. */
export function requirePurged(
  { storedBytes }: Pick<Quotas, 'storedBytes'>,
  used: UsedBytes,
  bytes: number | null,
): void {
  if (storedBytes === null || used.unpurgedBytes === 0) return;
  const taken = used.storedBytes + used.reservedBytes + used.unpurgedBytes;
  if (taken + (bytes ?? 1) > storedBytes) {
    throw unavailable('Earlier uploads of this workspace are being removed. Retry later.');
  }
}

/**
 * Throws 403 `quota_exceeded` once the minutes of this month are used up. The minutes of a new video are not known
 * beforehand.
 */
export function requireMinutes({ transcodedMinutes }: Quotas, transcodedMs: number): void {
  const used = toMinutes(transcodedMs);
  if (isReached(transcodedMinutes, used)) throw exceeded('transcodedMinutes', transcodedMinutes, used, null);
}

function isReached(limit: number | null, used: number): limit is number {
  return limit !== null && used >= limit;
}

/** Minutes with three decimals. */
function toMinutes(milliseconds: number): number {
  return Math.round(milliseconds / 60) / 1000;
}

/** For each quota: the limit in words, and the remedy for the client. */
const EXPLANATIONS: Record<QuotaName, { allowance: (limit: number) => string; remedy: string }> = {
  storedBytes: { allowance: (limit) => `store ${limit} bytes`, remedy: 'Delete videos' },
  transcodedMinutes: {
    allowance: (limit) => `transcode ${limit} minutes in a month`,
    remedy: 'Wait for the next month (UTC)',
  },
  videos: { allowance: (limit) => `have ${limit} videos`, remedy: 'Delete videos' },
  uploads: {
    allowance: (limit) => `have ${limit} open upload tickets`,
    remedy: 'Wait until a file arrives or a ticket expires, or delete a video that waits for its file',
  },
  fileBytes: { allowance: (limit) => `upload files of ${limit} bytes`, remedy: 'Send a smaller file' },
};

function exceeded(quota: QuotaName, limit: number, used: number | null, requested: number | null): Problem {
  const { allowance, remedy } = EXPLANATIONS[quota];
  const figures = [
    ...(used === null ? [] : [`${used} in use`]),
    ...(requested === null ? [] : [`${requested} requested`]),
  ];
  return new Problem(
    'quota_exceeded',
    `This workspace may ${allowance(limit)} (${figures.join(', ')}). ${remedy}, or ask the operator for a higher limit.`,
    { extra: { quota, limit, used, requested } },
  );
}
