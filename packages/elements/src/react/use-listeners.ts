import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';

/** Old versions of React warn about layout effects on a server, which runs neither kind. */
export const useEffectBeforePaint = globalThis.document === undefined ? useEffect : useLayoutEffect;

/** Handlers by the names of their events. A component has the same names at all times. */
export type Listeners = Readonly<Record<string, ((event: never) => void) | undefined>>;

/** Calls the newest listeners for the events of an element. React before 19 adds no listeners to custom elements. */
export function useListeners(element: RefObject<HTMLElement | null>, listeners: Listeners): void {
  const newest = useRef(listeners);
  useEffectBeforePaint(() => {
    newest.current = listeners;
  });
  useEffectBeforePaint(() => {
    const controller = new AbortController();
    for (const name of Object.keys(newest.current)) {
      const call = (event: Event) => newest.current[name]?.(event as never);
      element.current?.addEventListener(name, call, { signal: controller.signal });
    }
    return () => controller.abort();
  }, [element]);
}
