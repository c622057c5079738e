import ipaddr from 'ipaddr.js';
import { setting } from './settings.ts';

/** Reads addresses and ranges such as `10.0.0.0/8,fd00::1`; null when one of them is none. */
export function readProxies(list: string): string[] | null {
  const proxies = list.split(',').map((proxy) => proxy.trim());
  return proxies.every((proxy) => ipaddr.isValidCIDR(proxy) || ipaddr.isValid(proxy)) ? proxies : null;
}

/** Proxies whose `X-Forwarded-For` is believed; none unless set. */
export const trustedProxies = () =>
  setting
    .text()
    .transform(readProxies)
    .refine((proxies) => proxies !== null, 'must be addresses or ranges like 10.0.0.0/8, separated by commas')
    .default([]);
