/** One file of the queue. */
export type Item = {
  id: number;
  name: string;
  /** Bytes. */
  size: number;
  /** Bytes that have arrived, as far as the browser knows. */
  sent: number;
  /**
   * `unfinished`: begun before a reload of the page, so the file must be chosen again. `ended`: begun before a reload, but its video no
   * longer accepts a file.
   */
  state: 'waiting' | 'sending' | 'paused' | 'sent' | 'failed' | 'unfinished' | 'ended';
  /** The video of the file, as soon as its ticket exists. */
  videoId?: string;
  /** Whether its video could not be processed, as far as the loaded lists of videos tell. */
  hasFailed?: boolean;
  /** Why it failed. */
  error?: unknown;
  /** Why the upload ended, or why the chosen file was refused. */
  reason?: Reason | undefined;
  /** Bytes a second; undefined until it is known. */
  speed?: number | undefined;
  /** `sent` at the latest tick. */
  mark?: number | undefined;
};

export type Reason = 'expired' | 'deleted' | 'other-file' | 'other-tab';

type Begun = Pick<Item, 'id' | 'name' | 'size' | 'sent'> & { videoId: string };

type ItemAction =
  | { type: 'started' | 'sent' | 'paused' | 'resumed'; id: number }
  | { type: 'ticket'; id: number; videoId: string }
  | { type: 'progress'; id: number; sent: number }
  | { type: 'failed'; id: number; error: unknown }
  | { type: 'processed'; id: number; hasFailed: boolean }
  | { type: 'ended' | 'refused'; id: number; reason: Reason };

export type Action =
  | ItemAction
  | { type: 'added'; items: Pick<Item, 'id' | 'name' | 'size'>[] }
  | { type: 'found'; items: Begun[] }
  | { type: 'removed'; ids: readonly number[] }
  | { type: 'cleared' | 'all-paused' }
  | { type: 'all-resumed'; from: 'paused' | 'failed' }
  | { type: 'ticked'; seconds: number };

/** The order of the panel: what arrives, what needs somebody, what waits, and what has arrived. */
const ORDER: readonly Item['state'][] = [
  'sending',
  'failed',
  'unfinished',
  'ended',
  'paused',
  'waiting',
  'sent',
];

/** The items in the order of the panel. */
export function activeFirst(items: readonly Item[]): Item[] {
  const place = ({ state, hasFailed }: Item) => ORDER.indexOf(hasFailed ? 'failed' : state);
  return items.toSorted((a, b) => place(a) - place(b));
}

/** Uploads at the same time. A browser has six connections to an origin over HTTP/1.1. */
const AT_ONCE = 3;

/** Whether nothing is left to do for a file. */
export function isOver({ state }: Item): boolean {
  return state === 'sent' || state === 'ended';
}

/** Whether the queue works on a file, or has to say that it could not send it. */
export function isActive({ state }: Item): boolean {
  return state === 'waiting' || state === 'sending' || state === 'failed';
}

/** The weight of a new measurement in the speed, 0..1. */
const SMOOTHING = 0.3;

/** The queue after an action. */
export function reduce(items: readonly Item[], action: Action): readonly Item[] {
  switch (action.type) {
    case 'added':
      return [...items, ...action.items.map((item): Item => ({ ...item, sent: 0, state: 'waiting' }))];
    case 'found':
      return [...items, ...action.items.map((item): Item => ({ ...item, state: 'unfinished' }))];
    case 'removed':
      return items.filter(({ id }) => !action.ids.includes(id));
    case 'cleared':
      return items.filter((item) => !isOver(item));
    case 'all-paused':
      return items.map((item) => (canPause(item) ? pausedItem(item) : item));
    case 'all-resumed':
      return items.map((item) => (item.state === action.from ? { ...item, ...RESUMED } : item));
    case 'ticked':
      return items.map((item) => (item.state === 'sending' ? measured(item, action.seconds) : item));
    default:
      return items.map((item) => (item.id === action.id ? { ...item, ...changeOf(item, action) } : item));
  }
}

function changeOf(item: Item, action: ItemAction): Partial<Item> {
  switch (action.type) {
    case 'started':
      return { state: 'sending', speed: undefined, mark: undefined };
    case 'paused':
      return canPause(item) ? pausedItem(item) : item;
    case 'resumed':
      return RESUMED;
    case 'ticket':
      return { videoId: action.videoId };
    case 'progress':
      return { sent: action.sent };
    case 'sent':
      return { state: 'sent', sent: item.size };
    case 'failed':
      return { state: 'failed', error: action.error };
    case 'processed':
      return { hasFailed: action.hasFailed };
    case 'ended':
      return { state: 'ended', reason: action.reason };
    case 'refused':
      return { reason: action.reason };
  }
}

const RESUMED = { state: 'waiting', error: undefined, reason: undefined } as const satisfies Partial<Item>;

export function canPause({ state }: Item): boolean {
  return state === 'sending' || state === 'waiting';
}

function pausedItem(item: Item): Item {
  return { ...item, state: 'paused', speed: undefined };
}

/** The first tick only begins to measure: `sent` may have jumped to what had arrived before a pause. */
function measured(item: Item, seconds: number): Item {
  const { mark, sent, speed } = item;
  if (mark === undefined || seconds <= 0) return { ...item, mark: sent };
  const now = Math.max(0, sent - mark) / seconds;
  return { ...item, mark: sent, speed: speed === undefined ? now : speed + SMOOTHING * (now - speed) };
}

/** The waiting items that can start now. */
export function nextToStart(items: readonly Item[]): Item[] {
  const sending = items.filter(({ state }) => state === 'sending').length;
  return items.filter(({ state }) => state === 'waiting').slice(0, Math.max(0, AT_ONCE - sending));
}

/** Whole percent. Less than 100 until everything has arrived. */
export function percentOf({ sent, size, state }: Item): number {
  if (state === 'sent') return 100;
  return size === 0 ? 0 : Math.min(99, Math.floor((100 * sent) / size));
}

/** Bytes a second of the files that are being sent, and seconds until they and the waiting ones have arrived, if they can be known. */
export function paceOf(items: readonly Item[]): { speed: number; secondsLeft: number | undefined } {
  const speed = items.reduce((sum, { state, speed = 0 }) => (state === 'sending' ? sum + speed : sum), 0);
  const left = items.filter(canPause).reduce((sum, { size, sent }) => sum + size - sent, 0);
  return { speed, secondsLeft: speed >= 1 ? left / speed : undefined };
}

/** Whether files with this name usually have no video. They are published as sound alone. */
export function isSoundFile(filename: string): boolean {
  return /\.(?:mp3|m4a|aac|wav|aiff?|flac|oga|opus|amr)$/i.test(filename);
}

/** The title of the video of a file: its name without the extension. */
export function titleOf(filename: string): string {
  return filename.replace(/(.)\.[^.]*$/, '$1');
}

/** The queue in a sentence. */
export function summaryOf(items: readonly Item[]): string {
  if (items.length === 0) return '';
  const count = (...states: Item['state'][]) => items.filter(({ state }) => states.includes(state)).length;
  const others = [
    [count('paused'), 'paused'],
    [count('failed', 'ended') + items.filter(({ hasFailed }) => hasFailed).length, 'failed'],
    [count('unfinished'), 'unfinished'],
  ].flatMap(([number, word]) => (number === 0 ? [] : `, ${number} ${word}`));
  return `${count('sent')} of ${items.length} uploaded${others.join('')}`;
}
