import { useEffect } from 'react';

/** The part of the Navigation API that is used here. */
type Navigation = EventTarget & { currentEntry: unknown };
type NavigateEvent = Event & { destination: { sameDocument: boolean; url: string } };

const QUESTION = 'Discard the changes that are not saved?';

/** Asks whether changes may be lost. */
export function confirmDiscard(): boolean {
  // Only the dialog of the browser blocks a navigation until the user has decided.
  return confirm(QUESTION);
}

/** While a form has changes that are not saved, asks before the page is closed or another page of the console is opened. */
export function useUnsavedChanges(isDirty: boolean): void {
  useEffect(() => {
    if (!isDirty) return;
    const onNavigate = (event: Event) => {
      const { sameDocument, url } = (event as NavigateEvent).destination;
      // Another tab of the page keeps the form.
      const isElsewhere = new URL(url).pathname !== location.pathname;
      if (event.cancelable && sameDocument && isElsewhere && !confirmDiscard()) event.preventDefault();
    };
    const onBeforeUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    // Browsers without the Navigation API ask only before the page is closed.
    const navigation = (globalThis as { navigation?: Navigation }).navigation;
    navigation?.addEventListener('navigate', onNavigate);
    addEventListener('beforeunload', onBeforeUnload);
    return () => {
      navigation?.removeEventListener('navigate', onNavigate);
      removeEventListener('beforeunload', onBeforeUnload);
    };
  }, [isDirty]);
}
