import type { Schemas } from '@framelane/client';
import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, use, useEffect, useState, useSyncExternalStore } from 'react';
import { useSession } from '../sign-in/session.ts';
import type { PackagingRequest } from './packaging-request.ts';
import type { TrimRequest } from './trim-request.ts';
import { canPause, type Item } from './upload-items.ts';
import { UploadQueue } from './upload-queue.ts';
import type { WatermarkRequest } from './watermark-request.ts';

const QueueContext = createContext<UploadQueue | undefined>(undefined);

/** The queues of the workspaces that this page has shown. Their uploads continue while it shows another one. */
const queues = new Map<string, UploadQueue>();

/** The queue of the workspace. */
export function useUploadQueue(): UploadQueue {
  const queue = use(QueueContext);
  if (queue === undefined) throw new Error('There is no queue');
  return queue;
}

/** The files of a queue. The component renders again when they change. */
export function useUploadItems(queue: UploadQueue): readonly Item[] {
  return useSyncExternalStore(queue.subscribe, queue.items);
}

/** The file that the queue sends, or has sent, for a video. The component renders again when it changes. */
export function useUploadOf(videoId: string): Item | undefined {
  const queue = useUploadQueue();
  return useSyncExternalStore(queue.subscribe, () => queue.items().find((item) => item.videoId === videoId));
}

/** The watermark of the next uploads of a queue. The component renders again when it changes. */
export function useWatermark(queue: UploadQueue): WatermarkRequest | undefined {
  return useSyncExternalStore(queue.subscribe, queue.watermark);
}

/** The trim of the next files of a queue. The component renders again when it changes. */
export function useTrim(queue: UploadQueue): TrimRequest | undefined {
  return useSyncExternalStore(queue.subscribe, queue.trim);
}

/** The packaging and the codecs of the next uploads of a queue. The component renders again when it changes. */
export function usePackaging(queue: UploadQueue): PackagingRequest {
  return useSyncExternalStore(queue.subscribe, queue.packaging);
}

/** Sends files to the engine, also while pages change. */
export function UploadsProvider({ children }: { children: ReactNode }) {
  const queries = useQueryClient();
  const { workspace, environment } = useSession();
  const [queue] = useState(() => {
    const scope = `${workspace.id} ${environment}`;
    const onVideosChanged = () => void queries.invalidateQueries({ queryKey: ['videos'] });
    const found =
      queues.get(scope) ?? new UploadQueue({ workspaceId: workspace.id, environment }, onVideosChanged);
    queues.set(scope, found);
    return found;
  });
  useEffect(() => queue.watchUnfinished(), [queue]);
  useEffect(
    () =>
      queries.getQueryCache().subscribe(({ type, query }) => {
        const [kind, part] = query.queryKey;
        if (type !== 'updated' || kind !== 'videos' || (part !== 'list' && part !== 'home')) return;
        queue.learn((query.state.data as Schemas['VideoPage'] | undefined)?.data ?? []);
      }),
    [queries, queue],
  );
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      const isBusy = [...queues.values()].some((each) => each.items().some(canPause));
      if (isBusy) event.preventDefault();
    };
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, []);
  return <QueueContext value={queue}>{children}</QueueContext>;
}
