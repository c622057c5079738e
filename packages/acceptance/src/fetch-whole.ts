/** An answer read to its end, so that its connection is free again. */
export type WholeAnswer = { status: number; headers: Headers; body: Buffer };

export async function fetchWhole(url: string, init?: RequestInit): Promise<WholeAnswer> {
  const answer = await fetch(url, init);
  const { status, headers } = answer;
  return { status, headers, body: Buffer.from(await answer.arrayBuffer()) };
}

/** Fetches what must be there, at this very address. */
export async function fetchBytes(url: string): Promise<Buffer> {
  const { status, body } = await fetchWhole(url, { redirect: 'error' });
  if (status !== 200) throw new Error(`${url} answered ${status}`);
  return body;
}
