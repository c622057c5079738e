const isApple = /Mac|iPhone|iPad/.test(navigator.platform);

/** The name of the key that begins a command: ⌘ on Apple's keyboards, where Ctrl+K deletes to the end of a line. */
export const COMMAND_KEY = isApple ? '⌘' : 'Ctrl';

type Key = Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>;

/** Whether a key opens the palette: the one that types a K; on a keyboard without Latin letters the one at its place. */
export function opensPalette({ key, code, ctrlKey, metaKey, altKey, shiftKey }: Key): boolean {
  const isK = /^[a-z]$/i.test(key) ? key.toLowerCase() === 'k' : code === 'KeyK';
  if (altKey || shiftKey || !isK) return false;
  return isApple ? metaKey && !ctrlKey : ctrlKey && !metaKey;
}
