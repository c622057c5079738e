import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Tells how many bytes of an answer left this process, headers included, once it is over: sent whole, or cut off by
 * either side. An answer that never had its turn on the connection tells nothing.
 */
export function whenSent(res: ServerResponse, tell: (bytes: number) => void): void {
  let socket: Socket | undefined;
  let before = 0;
  const begin = (given: Socket) => {
    socket = given;
    before = leftThrough(given);
  };
  const end = () => {
    if (socket !== undefined) tell(leftThrough(socket) - before);
    socket = undefined;
  };
  // With pipelining the answers before this one are sent first.
  if (res.socket === null) res.once('socket', begin);
  else begin(res.socket);
  // First of the listeners: another hands the connection over to the next answer.
  res.prependOnceListener('finish', end);
  res.once('close', end);
}

/** `bytesWritten` counts what still waits to be sent. */
function leftThrough(socket: Socket): number {
  return socket.bytesWritten - socket.writableLength;
}
