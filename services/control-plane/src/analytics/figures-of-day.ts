/** The sums of a day of a video, or of some of its playbacks. */
export type FiguresOfReports = {
  views: number;
  watchMs: number;
  stalls: number;
  stallMs: number;
  /** The views that include each part. */
  retention: number[];
  /** How often each name occurs, by kind. */
  breakdowns: Record<string, Record<string, number>>;
};

/** The sums of two parts of a day, which have no playback in common. */
export function addFigures(first: FiguresOfReports, second: FiguresOfReports): FiguresOfReports {
  return {
    views: first.views + second.views,
    watchMs: first.watchMs + second.watchMs,
    stalls: first.stalls + second.stalls,
    stallMs: first.stallMs + second.stallMs,
    retention: first.retention.map((views, part) => views + (second.retention[part] ?? 0)),
    breakdowns: addAll(first.breakdowns, second.breakdowns, (counts, others) =>
      addAll(counts, others, (count, other) => count + other),
    ),
  };
}

/** The entries of both records. What both have is added. */
function addAll<Value>(
  first: Record<string, Value>,
  second: Record<string, Value>,
  add: (first: Value, second: Value) => Value,
): Record<string, Value> {
  const sums = new Map(Object.entries(first));
  for (const [name, value] of Object.entries(second)) {
    const before = sums.get(name);
    sums.set(name, before === undefined ? value : add(before, value));
  }
  return Object.fromEntries(sums);
}
