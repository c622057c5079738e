/** Marks the messages of the player page, as in docs/embed.md. */
export const CONTEXT = 'player.js';

/** The name of the event in a message of the player page; undefined for other messages. */
export function eventOf(data: unknown): string | undefined {
  if (typeof data !== 'string') return undefined;
  try {
    const message = JSON.parse(data);
    return message?.context === CONTEXT && typeof message.event === 'string' ? message.event : undefined;
  } catch {
    return undefined;
  }
}
