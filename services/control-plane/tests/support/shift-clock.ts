/** Shifts the clock of this process by this many milliseconds; returns a function that restores it. */
export function shiftClock(ms: number): () => void {
  const RealDate = Date;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [RealDate.now() + ms] : args, newTarget),
    get: (target, name, receiver) =>
      name === 'now' ? () => RealDate.now() + ms : Reflect.get(target, name, receiver),
  });
  return () => {
    globalThis.Date = RealDate;
  };
}
