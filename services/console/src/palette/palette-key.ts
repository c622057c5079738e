const isApple = /Mac|iPhone|iPad/.test(navigator.platform);

/** The name of the key that begins a command: ⌘ on Apple's keyboards, where Ctrl+K deletes to the end of a line. */
export const COMMAND_KEY = isApple ? '⌘' : 'Ctrl';

/** Whether a key opens the palette. */
export function opensPalette({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean {
  if (altKey || shiftKey || key.toLowerCase() !== 'k') return false;
  return isApple ? metaKey && !ctrlKey : ctrlKey && !metaKey;
}
