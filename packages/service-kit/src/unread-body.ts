import type { IncomingMessage, ServerResponse } from 'node:http';

/** How long a client may continue to send its body after the response. */
const LINGER_MS = 2_000;

/**
 * Middleware that destroys the connection when the client still sends its body `LINGER_MS` after the response. Without
 * it, Node reads the rest of the body, however slowly it arrives, before it takes the next request of the connection.
 */
export function closeOnUnreadBody(req: IncomingMessage, res: ServerResponse, next: () => void): void {
  res.once('finish', () => {
    if (req.complete) return;
    const timer = setTimeout(() => {
      if (!req.complete) req.socket.destroy();
    }, LINGER_MS);
    timer.unref();
  });
  next();
}

/**
 * Responds to a request whose body is not wanted and closes the connection. Call it instead of `res.end`.
 *
 * It sends the whole response first, then discards the rest of the body for at most `LINGER_MS`. Closing a socket with
 * unread bytes sends a TCP reset, which can discard a response that the client has not read yet.
 */
export function endWithUnreadBody(req: IncomingMessage, res: ServerResponse, body: string): void {
  res.setHeader('Connection', 'close');
  if (req.complete || req.destroyed) {
    res.end(body);
    return;
  }
  res.setHeader('Content-Length', Buffer.byteLength(body));
  res.write(body);
  const end = () => {
    clearTimeout(timer);
    res.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  req.once('end', end);
  req.once('close', end);
  req.resume();
}
