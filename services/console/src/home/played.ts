import { useEffect, useState } from 'react';

/** Messages of the player page, as in docs/embed.md. */
const CONTEXT = { context: 'player.js', version: '0.0.11' };

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
      if (event === 'ready')
        frame.postMessage(JSON.stringify({ ...CONTEXT, method: 'addEventListener', value: 'play' }), origin);
      if (event === 'play') setPlayed(embed);
    };
    addEventListener('message', onMessage);
    return () => removeEventListener('message', onMessage);
  }, [embed]);
  return embed !== undefined && played === embed;
}

/** The name of the event in a message of the player page; undefined for other messages. */
export function eventOf(data: unknown): string | undefined {
  if (typeof data !== 'string') return undefined;
  try {
    const message = JSON.parse(data);
    return message?.context === CONTEXT.context && typeof message.event === 'string'
      ? message.event
      : undefined;
  } catch {
    return undefined;
  }
}
