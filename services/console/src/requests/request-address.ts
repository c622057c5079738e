import { isoTimeOf } from '../ui/local-time.ts';

/** What the list of requests shows, as the address of the page has it. Empty texts mean all. */
export type RequestAddress = {
  view: '' | 'errors';
  status: '' | (typeof STATUS_CLASSES)[number];
  method: '' | (typeof METHODS)[number];
  path: string;
  keyId: string;
  code: string;
  requestId: string;
  from: string;
  to: string;
};

export const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx'] as const;
export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** Reads the query of the address. Unknown values mean all. */
export function readRequestAddress(search: string): RequestAddress {
  const values = new URLSearchParams(search);
  const text = (name: string) => values.get(name) ?? '';
  return {
    view: text('view') === 'errors' ? 'errors' : '',
    status: STATUS_CLASSES.find((each) => each === text('status')) ?? '',
    method: METHODS.find((each) => each === text('method')) ?? '',
    path: text('path'),
    keyId: text('keyId'),
    code: text('code'),
    requestId: text('requestId'),
    from: isoTimeOf(text('from')) === undefined ? '' : text('from'),
    to: isoTimeOf(text('to')) === undefined ? '' : text('to'),
  };
}

/** The query of an address, without what means all. */
export function writeRequestAddress(address: RequestAddress): string {
  return new URLSearchParams(Object.entries(address).filter(([, value]) => value !== '')).toString();
}

/** The parameters of the API for the list or, without the request id, for the groups. Fields of the page have local times. */
export function queryOf({ status, method, path, keyId, code, from, to }: RequestAddress) {
  const [createdAfter, createdBefore] = [isoTimeOf(from), isoTimeOf(to)];
  return {
    ...(status !== '' && { status }),
    ...(method !== '' && { method }),
    ...(path !== '' && { path }),
    ...(keyId !== '' && { keyId }),
    ...(code !== '' && { code }),
    ...(createdAfter !== undefined && { createdAfter }),
    ...(createdBefore !== undefined && { createdBefore }),
  };
}
