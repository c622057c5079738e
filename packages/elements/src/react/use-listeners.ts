import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';

/** Old versions of React warn about layout effects on a server, which runs neither kind. */
export const useEffectBeforePaint = globalThis.document === undefined ? useEffect : useLayoutEffect;

/** Handlers by the names of their events. A component has the same names at all times. */
export type Listeners = Readonly<Record<string, ((event: never) => void) | undefined>>;

/** An element may keep events for listeners that are added later. */
type Emitter = HTMLElement & { readonly lastEvents?: readonly Event[] };

/** Calls the newest listeners for the events of an element. React before 19 adds no listeners to custom elements. */
export function useListeners(element: RefObject<Emitter | null>, listeners: Listeners): void {
  const newest = useRef(listeners);
  const heard = useRef(new WeakSet<Event>());
  useEffectBeforePaint(() => {
    newest.current = listeners;
  });
  useEffectBeforePaint(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const call = (event: Event) => {
      heard.current.add(event);
      newest.current[event.type]?.(event as never);
    };
    for (const name of Object.keys(newest.current)) element.current?.addEventListener(name, call, { signal });
    // An element from a server works before React hydrates it. A microtask, so that an error of a listener does not unmount the component.
    for (const event of element.current?.lastEvents ?? [])
      queueMicrotask(() => {
        if (signal.aborted || heard.current.has(event)) return;
        // A new token makes an old event of an expired one untrue.
        if (element.current?.lastEvents?.includes(event)) call(event);
      });
    return () => controller.abort();
  }, [element]);
}
