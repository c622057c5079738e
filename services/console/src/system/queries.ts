import { FramelaneError, unwrap } from '@framelane/client';
import { useQuery } from '@tanstack/react-query';
import { api } from '../api/api.ts';
import { API_URL } from '../paths.ts';

/** Milliseconds between two requests. */
const POLL_MS = 5_000;

export function useSystem() {
  return useQuery({
    queryKey: ['system'],
    queryFn: ({ signal }) => unwrap(api.GET('/console/system', { signal })),
    refetchInterval: POLL_MS,
  });
}

/**
 * The names of the unavailable systems that the control plane needs; null if it does not respond. This request needs no session, because
 * the control plane cannot check sessions while the database is unavailable.
 */
export function useReadiness(systemError: Error | null) {
  const status = systemError instanceof FramelaneError ? systemError.status : null;
  return useQuery({
    queryKey: ['readiness'],
    queryFn: ({ signal }) => readiness(signal),
    enabled: systemError !== null && (status === null || status >= 500),
    refetchInterval: POLL_MS,
  });
}

async function readiness(signal: AbortSignal): Promise<string[] | null> {
  try {
    const response = await fetch(new URL('readyz', API_URL), { signal });
    const { missing } = (await response.json()) as { missing?: unknown };
    return Array.isArray(missing) ? missing.map(String) : null;
  } catch {
    return null;
  }
}
