type Address = Pick<Location, 'hash' | 'pathname' | 'search'>;

/** The code of a sign-in link, after `#code=`. Removes it from the address, so that it is not in the history; it is valid once. */
export function takeCode(
  address: Address,
  history: Pick<History, 'replaceState' | 'state'>,
): string | undefined {
  const code = new URLSearchParams(address.hash.slice(1)).get('code');
  if (code === null || code === '') return undefined;
  history.replaceState(history.state, '', `${address.pathname}${address.search}`);
  return code;
}
