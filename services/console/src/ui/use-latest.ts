import { useCallback, useLayoutEffect, useRef } from 'react';

/** A function that stays the same and calls the one of the latest render, so that memoized components need not render again. */
export function useLatest<Parameters extends unknown[], Result>(
  run: (...parameters: Parameters) => Result,
): (...parameters: Parameters) => Result {
  const latest = useRef(run);
  useLayoutEffect(() => {
    latest.current = run;
  });
  return useCallback((...parameters) => latest.current(...parameters), []);
}
