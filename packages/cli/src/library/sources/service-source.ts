import type { ServiceClient } from '../http/service-client.ts';
import type { LibrarySource } from '../library-item.ts';

/** A library of a service with an API. Engines fetch its files unless the user says otherwise. */
export function serviceSource(
  { name, trustedHosts }: ServiceClient,
  items: LibrarySource['items'],
): LibrarySource {
  return { name, transfer: 'url', trustedHosts, items };
}
