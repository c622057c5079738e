import type { IncomingMessage, ServerResponse } from 'node:http';

/** How long a client has to notice the response and stop sending. */
const LINGER_MS = 2_000;

/**
 * Middleware that destroys the connection of a client that still sends its body some seconds after the whole response. Node
 * reads such a body to its end before it takes the next request, however slowly it comes.
 */
export function closeUnread(req: IncomingMessage, res: ServerResponse, next: () => void): void {
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
 * Ends an answer to a request whose body is not wanted, and closes the connection. The whole answer leaves at once.
 * After that, what the client still sends is thrown away for a moment: a socket closed with unread bytes is reset, and
 * a reset can take the answer from a client that has not read it yet. Call it instead of `res.end`.
 */
export function endUnread(req: IncomingMessage, res: ServerResponse, body: string): void {
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
