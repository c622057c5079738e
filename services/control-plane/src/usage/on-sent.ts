import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Reports how many bytes of a response left this process, headers included, when it is finished or aborted. A response that
 * was never assigned to its connection is not reported.
 */
export function onSent(res: ServerResponse, report: (bytes: number) => void): void {
  let socket: Socket | undefined;
  let before = 0;
  const begin = (assigned: Socket) => {
    socket = assigned;
    before = bytesSent(assigned);
  };
  const end = () => {
    if (socket !== undefined) report(bytesSent(socket) - before);
    socket = undefined;
  };
  // With pipelining, earlier responses come first.
  if (res.socket === null) res.once('socket', begin);
  else begin(res.socket);
  // Before the other listeners: one of them assigns the connection to the next response.
  res.prependOnceListener('finish', end);
  res.once('close', end);
}

/** `bytesWritten` includes bytes that are still buffered. */
function bytesSent(socket: Socket): number {
  return socket.bytesWritten - socket.writableLength;
}
