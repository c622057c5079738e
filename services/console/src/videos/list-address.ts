import type { Schemas } from '@framelane/client';
import { TEXT_FILTER_NAMES, type TextFilter, valueOfEach } from './text-fields.ts';

type Status = Schemas['VideoStatus'];

/** The filters, order and page in the address of the list. */
export type ListAddress = Record<TextFilter, string> & {
  q: string;
  status: Status | '';
  /** The first and the last day of creation, as `YYYY-MM-DD` in the time zone of the browser. */
  from: string;
  to: string;
  /** Oldest first; otherwise newest first. */
  order: 'asc' | '';
  cursor: string;
};

export const STATUSES = ['uploading', 'processing', 'ready', 'failed'] as const satisfies readonly Status[];

/** Reads the address. Unknown values are left out. */
export function readListAddress(search: string): ListAddress {
  const parameters = new URLSearchParams(search);
  const value = (name: keyof ListAddress) => parameters.get(name) ?? '';
  return {
    q: value('q'),
    status: STATUSES.find((each) => each === value('status')) ?? '',
    ...valueOfEach(TEXT_FILTER_NAMES, value),
    from: dayOf(value('from')),
    to: dayOf(value('to')),
    order: value('order') === 'asc' ? 'asc' : '',
    cursor: value('cursor'),
  };
}

/** The query of the address, with `?`. Empty values are left out. */
export function writeListAddress(address: Partial<ListAddress>): string {
  const query = new URLSearchParams(Object.entries(address).filter(([, value]) => value !== '')).toString();
  return query === '' ? '' : `?${query}`;
}

/** Whether the list can lack videos because of a filter. */
export function isFiltered({ q, status, from, to, ...others }: ListAddress): boolean {
  return [q, status, from, to, ...TEXT_FILTER_NAMES.map((name) => others[name])].some(
    (value) => value !== '',
  );
}

/** The query for all pages, without order. */
export function toFilter(address: ListAddress) {
  return toQuery({ ...address, order: '', cursor: '' });
}

/** The query of the request. A day begins and ends at midnight in the time zone of the browser. */
export function toQuery({ q, status, from, to, order, cursor, ...texts }: ListAddress) {
  const given = TEXT_FILTER_NAMES.filter((name) => texts[name] !== '');
  return {
    ...(q && { q }),
    ...(status && { status: [status] }),
    ...valueOfEach(given, (name) => texts[name]),
    ...(from && { createdAfter: midnight(from, 0) }),
    ...(to && { createdBefore: midnight(to, 1) }),
    ...(order && { order }),
    ...(cursor && { cursor }),
  };
}

function dayOf(value: string): string {
  return /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)) ? value : '';
}

/** The start of a day, or of one some days later. */
function midnight(day: string, daysLater: number): string {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number);
  return new Date(year, month - 1, date + daysLater).toISOString();
}
