import type { Video } from '@framelane/client';
import { useEffect, useRef, useState } from 'react';
import { api } from '../api/api.ts';
import { useSession } from '../sign-in/session.ts';
import { type ListAddress, toFilter } from './list-address.ts';

/** The most videos of a request. */
const PER_REQUEST = 100;

type AllVideos = {
  /** How many have been read; undefined while nothing is read. */
  found: number | undefined;
  error: unknown;
  /** Reads all pages, and then calls `use` with the videos. */
  read: (use: (videos: readonly Video[]) => void) => void;
  stop: () => void;
};

/** Reads all pages of a list. It stops when somebody leaves the page or changes the filter. */
export function useAllVideos(address: ListAddress): AllVideos {
  const { environment } = useSession();
  const [found, setFound] = useState<number>();
  const [error, setError] = useState<unknown>(null);
  const running = useRef<AbortController>(undefined);
  const stop = () => running.current?.abort();
  const filter = toFilter(address);
  const key = JSON.stringify(filter);
  // Another filter is another list.
  useEffect(() => () => running.current?.abort(), [key]);
  const read: AllVideos['read'] = async (use) => {
    stop();
    const controller = new AbortController();
    const { signal } = controller;
    running.current = controller;
    setError(null);
    const videos: Video[] = [];
    try {
      setFound(0);
      for await (const video of api.videos.list({ ...filter, environment, limit: PER_REQUEST }, { signal })) {
        videos.push(video);
        if (videos.length % PER_REQUEST === 0) setFound(videos.length);
      }
      if (!signal.aborted) use(videos);
    } catch (failure) {
      if (!signal.aborted) setError(failure);
    } finally {
      setFound(undefined);
    }
  };
  return { found, error, read, stop };
}
