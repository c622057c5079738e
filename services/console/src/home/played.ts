import { useEffect, useState } from 'react';
import { CONTEXT, eventOf } from './player-event.ts';

/** Asks the player page to say when playback begins, as in docs/embed.md. */
const REQUEST = JSON.stringify({
  context: CONTEXT,
  version: '0.0.11',
  method: 'addEventListener',
  value: 'play',
});

/** Whether playback has begun in the player of this page, which shows the player page at this URL. */
export function usePlayed(embed: string | undefined): boolean {
  const [played, setPlayed] = useState<string>();
  useEffect(() => {
    if (embed === undefined) return;
    const { origin } = new URL(embed);
    const onMessage = ({ data, source, origin: sender }: MessageEvent) => {
      const frame = document.querySelector<HTMLIFrameElement>('iframe.player')?.contentWindow;
      if (!frame || source !== frame || sender !== origin) return;
      const event = eventOf(data);
      if (event === 'ready') frame.postMessage(REQUEST, origin);
      if (event === 'play') setPlayed(embed);
    };
    addEventListener('message', onMessage);
    return () => removeEventListener('message', onMessage);
  }, [embed]);
  return embed !== undefined && played === embed;
}
