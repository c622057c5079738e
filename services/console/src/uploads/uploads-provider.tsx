import { FramelaneError, type UploadTicket } from '@framelane/client';
import { useQueryClient } from '@tanstack/react-query';
import {
  createContext,
  type ReactNode,
  use,
  useCallback,
  useEffect,
  useMemo,
  useReducer,
  useRef,
} from 'react';
import { api } from '../api/api.ts';
import { type Action, type Item, nextToStart, reduce, titleOf } from './queue.ts';

type Uploads = {
  items: readonly Item[];
  add: (files: Iterable<File>) => void;
  retry: (id: number) => void;
  /** Stops the upload of a file that has not arrived, and deletes its video. Removes a file that has arrived from the list. */
  remove: (item: Item) => void;
  clear: () => void;
};

/** What the queue needs to send a file, but nobody shows. */
type Transfer = { file: File; controller: AbortController; ticket?: UploadTicket };

const UploadsContext = createContext<Uploads | undefined>(undefined);

export function useUploads(): Uploads {
  const uploads = use(UploadsContext);
  if (uploads === undefined) throw new Error('There is no queue');
  return uploads;
}

let lastId = 0;

/** Sends files to the engine, also while pages change. */
export function UploadsProvider({ children }: { children: ReactNode }) {
  const queries = useQueryClient();
  const [items, dispatch] = useReducer(reduce, []);
  const transfers = useRef(new Map<number, Transfer>());

  const send = useCallback(
    async (id: number, transfer: Transfer) => {
      try {
        const { file, controller } = transfer;
        const { signal } = controller;
        if (transfer.ticket === undefined) {
          const request = { filename: file.name, title: titleOf(file.name), size: file.size };
          transfer.ticket = await api.uploadTickets.create(request);
          // Cancelled while the ticket was on its way.
          if (signal.aborted) {
            await deleteVideo(transfer.ticket.videoId);
            return;
          }
          dispatch({ type: 'ticket', id, videoId: transfer.ticket.videoId });
        }
        const { upload } = await import('@framelane/client/browser');
        const onProgress = ({ sent }: { sent: number }) => dispatch({ type: 'progress', id, sent });
        await upload(file, transfer.ticket, { signal, onProgress });
        dispatch({ type: 'sent', id });
        transfers.current.delete(id);
      } catch (error) {
        dispatch(afterFailure(id, transfer, error));
      }
      void queries.invalidateQueries({ queryKey: ['videos'] });
    },
    [queries],
  );

  useEffect(() => {
    for (const { id } of nextToStart(items)) {
      const transfer = transfers.current.get(id);
      if (transfer === undefined) continue;
      dispatch({ type: 'started', id });
      void send(id, transfer);
    }
  }, [items, send]);

  const isSending = items.some(({ state }) => state === 'sending' || state === 'waiting');
  useEffect(() => {
    if (!isSending) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [isSending]);

  const uploads = useMemo<Uploads>(
    () => ({
      items,
      add: (files) => {
        const added = [...files].map((file) => {
          lastId += 1;
          transfers.current.set(lastId, { file, controller: new AbortController() });
          return { id: lastId, name: file.name, size: file.size };
        });
        dispatch({ type: 'added', items: added });
      },
      retry: (id) => dispatch({ type: 'retried', id }),
      remove: ({ id, state, videoId }) => {
        transfers.current.get(id)?.controller.abort();
        transfers.current.delete(id);
        dispatch({ type: 'removed', id });
        if (state !== 'sent' && videoId !== undefined) {
          void deleteVideo(videoId).then(() => queries.invalidateQueries({ queryKey: ['videos'] }));
        }
      },
      clear: () => dispatch({ type: 'cleared' }),
    }),
    [items, queries],
  );
  return <UploadsContext value={uploads}>{children}</UploadsContext>;
}

/** The action after a failed upload. */
function afterFailure(id: number, transfer: Transfer, error: unknown): Action {
  const code = error instanceof FramelaneError ? error.code : '';
  // The file has arrived, but the response of an earlier attempt was lost.
  if (code === 'upload_token_used') return { type: 'sent', id };
  // The ticket of a refused upload is of no use for another attempt.
  if (code.startsWith('upload_token_')) delete transfer.ticket;
  return { type: 'failed', id, error };
}

/** If it fails, the video stays in the list until its ticket expires, where it can be deleted. */
async function deleteVideo(videoId: string): Promise<void> {
  await api.videos.delete(videoId).catch(() => {});
}
