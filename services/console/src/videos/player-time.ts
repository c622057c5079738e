/** How long the player may take to respond, in milliseconds. */
const TIMEOUT_MS = 1000;

/** The second that the player on the page shows, by its player.js interface; 0 without a player that responds. See docs/embed.md. */
export function playerTime(): Promise<number> {
  const frame = document.querySelector<HTMLIFrameElement>('iframe.player');
  const target = frame?.contentWindow;
  if (!frame || !target) return Promise.resolve(0);
  const listener = `chapters-${Math.random()}`;
  return new Promise((resolve) => {
    const settle = (seconds: number) => {
      removeEventListener('message', onMessage);
      clearTimeout(timer);
      resolve(seconds);
    };
    const timer = setTimeout(() => settle(0), TIMEOUT_MS);
    const onMessage = ({ source, data }: MessageEvent) => {
      if (source !== target || typeof data !== 'string' || !data.includes(listener)) return;
      const { value } = JSON.parse(data);
      settle(typeof value === 'number' ? value : 0);
    };
    addEventListener('message', onMessage);
    const request = { context: 'player.js', version: '0.0.11', method: 'getCurrentTime', listener };
    target.postMessage(JSON.stringify(request), new URL(frame.src).origin);
  });
}
