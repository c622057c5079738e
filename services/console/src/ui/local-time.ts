/** The time that a field of the type `datetime-local` has, for the API; undefined if it is empty or no time. */
export function isoTimeOf(local: string): string | undefined {
  const time = new Date(local);
  return local === '' || Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}
