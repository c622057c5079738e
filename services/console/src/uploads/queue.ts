/** One file of the queue. */
export type Item = {
  id: number;
  name: string;
  /** Bytes. */
  size: number;
  /** Bytes that have arrived, as far as the browser knows. */
  sent: number;
  state: 'waiting' | 'sending' | 'sent' | 'failed';
  /** The video of the file, as soon as its ticket exists. */
  videoId?: string;
  /** Why it failed. */
  error?: unknown;
};

export type Action =
  | { type: 'added'; items: Pick<Item, 'id' | 'name' | 'size'>[] }
  | { type: 'started' | 'sent' | 'retried'; id: number }
  | { type: 'removed'; id: number }
  | { type: 'ticket'; id: number; videoId: string }
  | { type: 'progress'; id: number; sent: number }
  | { type: 'failed'; id: number; error: unknown }
  | { type: 'cleared' };

/** Uploads at the same time. A browser has six connections to an origin over HTTP/1.1. */
const AT_ONCE = 3;

/** The queue after an action. */
export function reduce(items: readonly Item[], action: Action): readonly Item[] {
  switch (action.type) {
    case 'added':
      return [...items, ...action.items.map((item): Item => ({ ...item, sent: 0, state: 'waiting' }))];
    case 'removed':
      return items.filter(({ id }) => id !== action.id);
    case 'cleared':
      return items.filter(({ state }) => state !== 'sent');
    default:
      return items.map((item) => (item.id === action.id ? { ...item, ...changeOf(item, action) } : item));
  }
}

function changeOf(
  item: Item,
  action: Exclude<Action, { type: 'added' | 'removed' | 'cleared' }>,
): Partial<Item> {
  switch (action.type) {
    case 'started':
      return { state: 'sending' };
    case 'retried':
      return { state: 'waiting', error: undefined };
    case 'ticket':
      return { videoId: action.videoId };
    case 'progress':
      return { sent: action.sent };
    case 'sent':
      return { state: 'sent', sent: item.size };
    case 'failed':
      return { state: 'failed', error: action.error };
  }
}

/** The waiting items whose turn it is. */
export function nextToStart(items: readonly Item[]): Item[] {
  const sending = items.filter(({ state }) => state === 'sending').length;
  return items.filter(({ state }) => state === 'waiting').slice(0, Math.max(0, AT_ONCE - sending));
}

/** Whole percent. Less than 100 until everything has arrived. */
export function percentOf({ sent, size, state }: Item): number {
  if (state === 'sent') return 100;
  return size === 0 ? 0 : Math.min(99, Math.floor((100 * sent) / size));
}

/** The title of the video of a file: its name without the extension. */
export function titleOf(filename: string): string {
  return filename.replace(/(.)\.[^.]*$/, '$1');
}

/** The queue in a sentence, for screen readers. */
export function summaryOf(items: readonly Item[]): string {
  if (items.length === 0) return '';
  const count = (state: Item['state']) => items.filter((item) => item.state === state).length;
  const failed = count('failed');
  return `${count('sent')} of ${items.length} uploaded${failed > 0 ? `, ${failed} failed` : ''}`;
}
