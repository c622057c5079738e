import { refusal } from './framelane-error.ts';

/** What a call resolves with: `data`, or `error` in its place. */
export type Answer<Data> = { data?: Data; error?: unknown; response: Response };

/** The data of a call. Throws a FramelaneError if it was refused. */
export async function unwrap<Data>(call: Promise<Answer<Data>>): Promise<Data> {
  const { data, error, response } = await call;
  if (!response.ok) throw refusal(response.status, response.headers.get('x-request-id'), error);
  return data as Data;
}
