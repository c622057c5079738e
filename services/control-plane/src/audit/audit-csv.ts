import type { AuditEvent } from './audit-event-record.ts';

const COLUMNS: readonly { name: string; of: (event: AuditEvent) => string | null }[] = [
  { name: 'id', of: ({ id }) => id },
  { name: 'createdAt', of: ({ createdAt }) => createdAt },
  { name: 'actorType', of: ({ actor }) => actor.type },
  { name: 'actorId', of: ({ actor }) => actor.id },
  { name: 'actorName', of: ({ actor }) => actor.name },
  { name: 'operation', of: ({ operation }) => operation },
  { name: 'requestId', of: ({ requestId }) => requestId },
  { name: 'action', of: ({ action }) => action },
  { name: 'resourceType', of: ({ resource }) => resource.type },
  { name: 'resourceId', of: ({ resource }) => resource.id },
  { name: 'resourcePart', of: ({ resource }) => resource.part },
  { name: 'fields', of: ({ fields }) => fields.join(' ') },
  { name: 'changes', of: ({ changes }) => (changes.length === 0 ? null : JSON.stringify(changes)) },
];

/** The first line of the CSV file. */
export const CSV_HEADER = csvLine(COLUMNS.map(({ name }) => name));

/** The line of an event (RFC 4180). */
export function csvLineOf(event: AuditEvent): string {
  return csvLine(COLUMNS.map(({ of }) => of(event) ?? ''));
}

function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/** A cell. A spreadsheet must not run the name of a key as a formula: an apostrophe before it makes it a text (OWASP, CSV injection). */
export function csvCell(value: string): string {
  const text = /^[=+\-@\t\r\n＝＋－＠]/.test(value) ? `'${value}` : value;
  return /["',;\r\n\t]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
