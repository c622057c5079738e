declare module 'on-headers' {
  import type { ServerResponse } from 'node:http';

  /** Calls the listener when the head of a response is about to be sent. */
  function onHeaders(response: ServerResponse, listener: () => void): void;
  export = onHeaders;
}
