import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { isSessionError } from './problem.ts';

/** The key of the query for the current session. */
export const SESSION_KEY = ['session'];

/** A query client. Queries do not retry, because the API's client does. After a response with 401, the query client checks the session. */
export function createQueryClient(): QueryClient {
  const onError = (error: unknown) => {
    if (isSessionError(error)) void client.invalidateQueries({ queryKey: SESSION_KEY });
  };
  const client = new QueryClient({
    queryCache: new QueryCache({
      onError: (error, { queryKey }) => {
        if (queryKey[0] !== SESSION_KEY[0]) onError(error);
      },
    }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: { queries: { retry: false }, mutations: { retry: false } },
  });
  return client;
}
