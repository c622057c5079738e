import { InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { PERMISSIONS } from '../api-keys/permissions.ts';
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

/** Reads a future time: a time as in RFC 3339, or a day, which means its midnight in UTC. */
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
