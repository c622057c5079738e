import { InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { PERMISSIONS } from '../api-keys/permissions.ts';
import type { Permission } from '../db/schema.ts';

const LONGEST_NAME = 100;
/** As the contract refuses them in names. */
const UNPRINTABLE = /[\p{Cc}\u202A-\u202E\u2066-\u2069\p{Cs}]/u;

const dayOrTime = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);

/** A name for people. */
export function parseName(text: string): string {
  const characters = [...text].length;
  if (text.trim() === '' || characters > LONGEST_NAME) {
    throw new InvalidArgumentError(`Give 1 to ${LONGEST_NAME} characters.`);
  }
  if (UNPRINTABLE.test(text)) {
    throw new InvalidArgumentError('Leave out control characters and bidirectional formatting characters.');
  }
  return text;
}

/** Permissions with commas between them. */
export function parsePermissions(text: string): Permission[] {
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  return names.map((name) => {
    const permission = PERMISSIONS.find((known) => known === name);
    if (permission === undefined) {
      throw new InvalidArgumentError(`"${name}" is none of ${PERMISSIONS.join(', ')}.`);
    }
    return permission;
  });
}

/** A day (its first moment in UTC) or a time as in RFC 3339, which is yet to come. */
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
