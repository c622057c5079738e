import type { State } from './state.ts';

/** The pictures beside the messages of the page. page.css draws them. */
export type Picture = 'preparing' | 'failed' | 'offline' | 'locked' | 'missing';

/** The picture that belongs to the message of a state. */
export function pictureFor(state: State): Picture {
  switch (state.status) {
    case 'preparing':
    case 'waiting':
    case 'ready':
      return 'preparing';
    case 'failed':
      return 'failed';
    case 'offline':
      return 'offline';
    case 'refused':
      if (state.code.startsWith('playback_token_')) return 'locked';
      return state.code === 'video_not_found' ? 'missing' : 'failed';
  }
}
