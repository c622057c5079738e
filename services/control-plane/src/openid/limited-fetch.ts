import type { CustomFetch } from 'openid-client';

/** The longest body of a response in bytes, after decompression. Those of providers have a few kilobytes. */
const MAX_BODY_BYTES = 2 ** 20;

/** `fetch`, with bodies that fail when they are too long: a provider that is out of order must not fill the memory. */
export const limitedFetch: CustomFetch = async (url, options) => {
  const response = await fetch(url, options as RequestInit);
  if (response.body === null) return response;
  let bytes = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > MAX_BODY_BYTES) controller.error(new Error('The response of the provider is too long'));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(limit), { status, statusText, headers });
};
