/** A transfer that holds a slot. */
export type SlotHolder = {
  readonly workspaceId: string;
  /** Its recent throughput; null while it is too young. */
  readonly bytesPerSecond: number | null;
};

/**
 * The transfers that give up their slots when others need them: those slower than `minBytesPerSecond`. The first one is of the workspace that
 * holds the most slots, and of these the slowest.
 */
export function slowHolders<T extends SlotHolder>(holders: readonly T[], minBytesPerSecond: number): T[] {
  const held = Map.groupBy(holders, ({ workspaceId }) => workspaceId);
  const slotsOf = ({ workspaceId }: T) => held.get(workspaceId)?.length ?? 0;
  return holders
    .filter(({ bytesPerSecond }) => bytesPerSecond !== null && bytesPerSecond < minBytesPerSecond)
    .sort((a, b) => slotsOf(b) - slotsOf(a) || Number(a.bytesPerSecond) - Number(b.bytesPerSecond));
}
