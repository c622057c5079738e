/** Shifts the clock of this process by this many milliseconds; returns a function that restores it. */
export function shiftClock(ms: number): () => void {
  const RightDate = Date;
  globalThis.Date = new Proxy(RightDate, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [RightDate.now() + ms] : args, newTarget),
    get: (target, name, receiver) =>
      name === 'now' ? () => RightDate.now() + ms : Reflect.get(target, name, receiver),
  });
  return () => {
    globalThis.Date = RightDate;
  };
}
