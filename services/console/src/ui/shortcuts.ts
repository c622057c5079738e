import { useEffect, useRef } from 'react';
import { matchKey, type Shortcut } from './match-key.ts';

type Action = Shortcut & { run: () => void };

/** The shortcuts of what is shown now. */
const actions = new Set<Action>();

const STORED_AS = 'framelane-shortcuts';

/** After this many milliseconds the first key of two is forgotten. */
const SEQUENCE_MS = 1500;

/** Gives a shortcut an effect while the component is shown. Without one, the help does not list it. */
export function useShortcut(keys: string, words: string, run: (() => void) | null): void {
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  const hasEffect = run !== null;
  useEffect(() => {
    if (!hasEffect) return;
    const action = { keys, words, run: () => latest.current?.() };
    actions.add(action);
    return () => void actions.delete(action);
  }, [keys, words, hasEffect]);
}

/** Listens to the keyboard. Returns a function that ends it. */
export function listenToShortcuts(): () => void {
  let pending = '';
  let pressedAt = 0;
  const onKeyDown = (event: KeyboardEvent) => {
    if (!areShortcutsOn() || isForSomethingElse(event)) return;
    if (event.timeStamp - pressedAt > SEQUENCE_MS) pending = '';
    pressedAt = event.timeStamp;
    const match = matchKey(pending, event.key, actions);
    pending = match.pending;
    if (match.found === undefined) return;
    // The key would be typed into the field that gets the focus.
    event.preventDefault();
    match.found.run();
  };
  addEventListener('keydown', onKeyDown);
  return () => removeEventListener('keydown', onKeyDown);
}

function isForSomethingElse(event: KeyboardEvent): boolean {
  const { target, ctrlKey, altKey, metaKey, isComposing, defaultPrevented } = event;
  if (ctrlKey || altKey || metaKey || isComposing || defaultPrevented) return true;
  if (document.querySelector('[role="dialog"]') !== null) return true;
  return (
    target instanceof HTMLElement &&
    target.matches('input:not([type="checkbox"]), textarea, select, [contenteditable]')
  );
}

/** The shortcuts of what is shown now, in the order of their keys. */
export function currentShortcuts(): Shortcut[] {
  return [...actions].sort((a, b) => a.keys.localeCompare(b.keys));
}

/** Whether single keys have an effect. The choice is stored in the browser. */
export function areShortcutsOn(): boolean {
  return localStorage.getItem(STORED_AS) !== 'off';
}

export function switchShortcuts(on: boolean): void {
  if (on) localStorage.removeItem(STORED_AS);
  else localStorage.setItem(STORED_AS, 'off');
}
