import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** A self-signed certificate for hooks.example and 127.0.0.1. Its key is public and protects nothing. */
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgy5xV6gjbfixvxemT
7CiX2ZEq6a4Mk37yyk40ZD7h6iKhRANCAAQ/0e0M8DWaywmaK+eJpv6B1syhynuh
V9EZIBvz+wVv5IB1OGqOsQXJhLmH1teDvRyLbcn2R12JZlspT1w2lyKS
-----END PRIVATE KEY-----`;
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBrDCCAVGgAwIBAgIUHM5EgX/o/8zfmKuMPLh+A9jxEKcwCgYIKoZIzj0EAwIw
GjEYMBYGA1UEAwwPRnJhbWVsYW5lIHRlc3RzMCAXDTI2MTEyMTA1NDQwN1oYDzIx
MjYxMDI4MDU0NDA3WjAaMRgwFgYDVQQDDA9GcmFtZWxhbmUgdGVzdHMwWTATBgcq
hkjOPQIBBggqhkjOPQMBBwNCAAQ/0e0M8DWaywmaK+eJpv6B1syhynuhV9EZIBvz
+wVv5IB1OGqOsQXJhLmH1teDvRyLbcn2R12JZlspT1w2lyKSo3MwcTAdBgNVHQ4E
FgQUaQUjUjKUhu5WU6NGYvhQJjZoHwUwHwYDVR0jBBgwFoAUaQUjUjKUhu5WU6NG
YvhQJjZoHwUwDwYDVR0TAQH/BAUwAwEB/zAeBgNVHREEFzAVgg1ob29rcy5leGFt
cGxlhwR/AAABMAoGCCqGSM49BAMCA0kAMEYCIQCOGEZos22ITnUFh7OsoOTBad+Z
0q9KjMV+lQLjgAPFmQIhAN3YVb9krJkz2QNzIrDoUo7SUdnjR1Z0VJoDG6/U2nQx
-----END CERTIFICATE-----`;

/** An HTTPS server with that certificate; it counts requests. By default it responds with 204. */
export async function startTlsServer(
  respond: RequestListener = (_req, res) => void res.writeHead(204).end(),
): Promise<{
  port: number;
  readonly requests: number;
  stop: () => Promise<void>;
}> {
  let requests = 0;
  const server = createServer({ key: KEY, cert: CERTIFICATE }, (req, res) => {
    requests += 1;
    respond(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get requests() {
      return requests;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
