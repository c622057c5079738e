import type { Schemas } from '@framelane/client';

type Status = Schemas['VideoStatus'];

/** What the address of the list says. */
export type ListAddress = { q: string; status: Status | ''; cursor: string };

export const STATUSES = ['uploading', 'processing', 'ready', 'failed'] as const satisfies readonly Status[];

/** Reads the address. Unknown values are left out. */
export function readListAddress(search: string): ListAddress {
  const parameters = new URLSearchParams(search);
  const status = STATUSES.find((each) => each === parameters.get('status')) ?? '';
  return { q: parameters.get('q') ?? '', status, cursor: parameters.get('cursor') ?? '' };
}

/** The query of the address, with `?`. Empty values are left out. */
export function writeListAddress(address: Partial<ListAddress>): string {
  const query = new URLSearchParams(Object.entries(address).filter(([, value]) => value !== '')).toString();
  return query === '' ? '' : `?${query}`;
}
