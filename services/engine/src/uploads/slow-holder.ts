/** A transfer that holds a slot. */
export type SlotHolder = {
  readonly workspaceId: string;
  /** Its recent throughput; null while it is too young. */
  readonly bytesPerSecond: number | null;
};

/**
 * The transfer that gives up its slot when another one needs it: one that is slower than `minBytesPerSecond`, of the workspace that holds the
 * most slots, and of these the slowest. Undefined if all are fast enough.
 */
export function slowHolder<T extends SlotHolder>(
  holders: readonly T[],
  minBytesPerSecond: number,
): T | undefined {
  const held = Map.groupBy(holders, ({ workspaceId }) => workspaceId);
  const slotsOf = ({ workspaceId }: T) => held.get(workspaceId)?.length ?? 0;
  return holders
    .filter(({ bytesPerSecond }) => bytesPerSecond !== null && bytesPerSecond < minBytesPerSecond)
    .sort((a, b) => slotsOf(b) - slotsOf(a) || Number(a.bytesPerSecond) - Number(b.bytesPerSecond))[0];
}
