import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { PrometheusText } from './prometheus-text.ts';

/** A request without a body, as it is sent. */
export function requestHead(method: string, path: string, headers: Record<string, string> = {}): string {
  const lines = Object.entries({ Host: 'framelane', ...headers }).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${path} HTTP/1.1`, ...lines, '', ''].join('\r\n');
}

/** Sends requests to a server without waiting for responses, and reads nothing. */
export async function sendUnread(url: string, requests: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  // The server may reset the connection.
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.pause().write(requests);
  return socket;
}

/** Sends a request many times without waiting for responses. Resolves when the server closes the connection. */
export async function sendUntilClosed(url: string, request: string, times: number): Promise<void> {
  const socket = await sendUnread(url, request.repeat(times));
  if (!socket.destroyed) await once(socket.resume(), 'close');
}

/** How many requests a service has handled so far, according to the metrics at its internal address. */
export async function handledRequests(internalUrl: string): Promise<number> {
  const metrics = await PrometheusText.scrape(`${internalUrl}/metrics`);
  return Object.values(metrics.withPrefix('framelane_http_requests_total{')).reduce((a, b) => a + b, 0);
}
