/** One file of an uploader. */
export type UploadItem = {
  id: number;
  file: File;
  /** Bytes that have arrived, as far as the browser knows. */
  sent: number;
  /** A file that was refused is never sent. */
  state: 'waiting' | 'sending' | 'paused' | 'sent' | 'failed' | 'refused';
  /** The video of the file, as soon as its ticket is known. */
  videoId?: string | undefined;
  /** Why it failed or was refused. */
  error?: unknown;
};

export type UploadAction =
  | { type: 'added'; items: readonly Pick<UploadItem, 'id' | 'file'>[] }
  | { type: 'refused'; items: readonly Pick<UploadItem, 'id' | 'file' | 'error'>[] }
  | { type: 'removed'; id: number }
  | ItemAction;

/** An action that changes one file. */
type ItemAction =
  | { type: 'started' | 'paused' | 'resumed' | 'sent'; id: number }
  | { type: 'ticket'; id: number; videoId: string | undefined }
  | { type: 'progress'; id: number; sent: number }
  | { type: 'failed'; id: number; error: unknown };

/** Uploads at the same time. A browser has six connections to an origin over HTTP/1.1. */
const AT_ONCE = 3;

/** The files after an action. */
export function reduce(items: readonly UploadItem[], action: UploadAction): readonly UploadItem[] {
  if (action.type === 'added')
    return [...items, ...action.items.map((item): UploadItem => ({ ...item, sent: 0, state: 'waiting' }))];
  if (action.type === 'refused')
    return [...items, ...action.items.map((item): UploadItem => ({ ...item, sent: 0, state: 'refused' }))];
  if (action.type === 'removed') return items.filter(({ id }) => id !== action.id);
  return items.map((item) => (item.id === action.id ? changed(item, action) : item));
}

function changed(item: UploadItem, action: ItemAction): UploadItem {
  switch (action.type) {
    case 'started':
      return { ...item, state: 'sending' };
    case 'paused':
      return canPause(item) ? { ...item, state: 'paused' } : item;
    case 'resumed':
      return canResume(item) ? { ...item, state: 'waiting', error: undefined } : item;
    case 'sent':
      return { ...item, state: 'sent', sent: item.file.size };
    case 'ticket':
      return { ...item, videoId: action.videoId };
    case 'progress':
      return { ...item, sent: action.sent };
    case 'failed':
      return { ...item, state: 'failed', error: action.error };
  }
}

export function canPause({ state }: UploadItem): boolean {
  return state === 'sending' || state === 'waiting';
}

export function canResume({ state }: UploadItem): boolean {
  return state === 'paused' || state === 'failed';
}

/** Whether a file is still to be sent, if the user wants it. */
export function isUnfinished(item: UploadItem): boolean {
  return canPause(item) || canResume(item);
}

/** The waiting files that can start now. */
export function nextToStart(items: readonly UploadItem[]): UploadItem[] {
  const sending = items.filter(({ state }) => state === 'sending').length;
  return items.filter(({ state }) => state === 'waiting').slice(0, Math.max(0, AT_ONCE - sending));
}

/** Whole percent. Less than 100 until everything has arrived. */
export function percentOf({ sent, file, state }: UploadItem): number {
  if (state === 'sent') return 100;
  return file.size === 0 ? 0 : Math.min(99, Math.floor((100 * sent) / file.size));
}

/** Equal for two files that are the same, as far as a page can know. */
export function identityOf({ name, size, lastModified }: File): string {
  return `${size} ${lastModified} ${name}`;
}
