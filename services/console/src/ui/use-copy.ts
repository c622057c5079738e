import { type RefObject, useEffect, useState } from 'react';

/** How long the outcome is shown. */
const SHOWN_MS = 5000;

/**
 * Copies a text that an element of the page shows. Returns what to call, and the outcome in words, which are gone after a while. Without permission for
 * the clipboard (plain http), the text is selected instead.
 */
export function useCopy(value: string, element: RefObject<HTMLElement | null>) {
  const [outcome, setOutcome] = useState({ of: value, words: '' });
  useEffect(() => {
    if (outcome.words === '') return;
    const timer = setTimeout(() => setOutcome({ ...outcome, words: '' }), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value);
      setOutcome({ of: value, words: 'Copied' });
    } catch {
      select(element.current);
      setOutcome({ of: value, words: 'Selected: copy it with the keyboard' });
    }
  };
  return { copy: () => void copy(), words: outcome.of === value ? outcome.words : '' };
}

/** Selects the text of an element. */
export function select(element: HTMLElement | null): void {
  if (element !== null) getSelection()?.selectAllChildren(element);
}
