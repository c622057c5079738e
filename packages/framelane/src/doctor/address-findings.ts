import { isLoopback, type SingleNodeSettings } from '@framelane/single-node/settings';
import { type Finding, passed, warning } from './finding.ts';

/** Whether clients can use the addresses that Framelane gives them. */
export function addressFindings({
  host,
  publicUrl,
  enginePublicUrl,
}: Pick<SingleNodeSettings, 'host' | 'publicUrl' | 'enginePublicUrl'>): Finding[] {
  return Object.entries({ PUBLIC_URL: publicUrl, ENGINE_PUBLIC_URL: enginePublicUrl }).map(([name, url]) => {
    const { protocol, hostname } = new URL(url);
    const isForThisMachine = isLoopback(hostname);
    if (isForThisMachine && !isLoopback(host)) {
      return warning(
        'Address',
        `HOST is ${host}, but ${name} is ${url}, which other machines cannot reach`,
        `Set ${name} to the address at which clients reach it.`,
      );
    }
    if (protocol === 'http:' && !isForThisMachine) {
      return warning(
        'Address',
        `${name} is ${url}, without TLS`,
        'Keys and videos can be read on the network, and browsers offer less on such pages, such as no clipboard. Put a proxy with TLS in front: https://github.com/framelane/framelane/blob/main/docs/deployment.md#tls',
      );
    }
    return passed('Address', `${name} is ${url}`);
  });
}
