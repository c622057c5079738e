import { InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { PERMISSIONS } from '../api-keys/permissions.ts';
import { normaliseEmail } from '../console-people/email.ts';
import type { Permission } from '../db/schema.ts';

const LONGEST_NAME = 100;
/** The characters that the contract refuses in names. */
const UNPRINTABLE = /[\p{Cc}\u202A-\u202E\u2066-\u2069\p{Cs}]/u;

const dayOrTime = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);

/** Reads a name. */
export function parseName(text: string): string {
  const characters = [...text].length;
  if (text.trim() === '' || characters > LONGEST_NAME) {
    throw new InvalidArgumentError(`Give 1 to ${LONGEST_NAME} characters.`);
  }
  if (UNPRINTABLE.test(text)) {
    throw new InvalidArgumentError('Remove control characters and bidirectional formatting characters.');
  }
  return text;
}

/** Reads an email address. */
export function parseEmail(text: string): string {
  const email = normaliseEmail(text);
  if (email === undefined) throw new InvalidArgumentError('Give an address such as ada@example.com.');
  return email;
}

/** Reads permissions separated by commas. */
export function parsePermissions(text: string): Permission[] {
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  return names.map((name) => {
    const permission = PERMISSIONS.find((known) => known === name);
    if (permission === undefined) {
      throw new InvalidArgumentError(`"${name}" is not one of ${PERMISSIONS.join(', ')}.`);
    }
    return permission;
  });
}

/** Reads a future time: an RFC 3339 time, or a day, which means 0:00 UTC of that day. */
export function parseFuture(text: string): Date {
  const moment = new Date(dayOrTime.safeParse(text).data ?? Number.NaN);
  if (Number.isNaN(moment.getTime())) {
    throw new InvalidArgumentError(
      'Give a day, such as 2027-01-01, or a time, such as 2027-01-01T12:00:00Z.',
    );
  }
  if (moment <= new Date()) throw new InvalidArgumentError('This time has passed.');
  return moment;
}

/** Bytes of each unit, decimal and binary. */
const UNITS: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  PB: 1e15,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
  PiB: 2 ** 50,
};

/** The argument that removes a limit. It stays a text because Commander discards a null. */
export type None = 'none';

/** Reads the maximum of a quota: a whole number or `none`. */
export function parseLimit(text: string): number | None {
  if (text === 'none') return text;
  const limit = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(limit)) throw new InvalidArgumentError('Give a whole number, or none.');
  return limit;
}

/** Reads a whole number of at least `least`. */
export function parseWholeNumber(least: number): (text: string) => number {
  return (text) => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isSafeInteger(number) && number >= least) return number;
    throw new InvalidArgumentError(`Give a whole number of at least ${least}.`);
  };
}

/** Reads a size such as `1TB` or `1.5 GiB`, in bytes, or `none`. */
export function parseSize(text: string): number | None {
  if (text === 'none') return text;
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?) ?([a-z]*)$/i.exec(text) ?? [];
  const name = Object.keys(UNITS).find((known) => known.toLowerCase() === (unit || 'B').toLowerCase());
  const factor = UNITS[name ?? ''] ?? Number.NaN;
  const bytes = factor === 1 ? Number(number) : Math.round(Number(number) * factor);
  if (!Number.isSafeInteger(bytes)) {
    throw new InvalidArgumentError(
      `Give a size, such as 1TB or 1.5TiB, or none. The units are ${Object.keys(UNITS).join(', ')}.`,
    );
  }
  return bytes;
}

/** Reads the size of a file like `parseSize`, but refuses 0. */
export function parseFileSize(text: string): number | None {
  const bytes = parseSize(text);
  if (bytes === 0) throw new InvalidArgumentError('A file has at least one byte.');
  return bytes;
}

/** A size for people, in decimal units, e.g. `1.5 TB`. */
export function describeSize(bytes: number): string {
  const [unit, factor] = Object.entries(UNITS).findLast(
    ([name, factor]) => !name.includes('i') && bytes >= factor,
  ) ?? ['B', 1];
  return `${Number((bytes / factor).toFixed(2))} ${unit}`;
}
