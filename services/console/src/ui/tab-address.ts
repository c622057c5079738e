/** The tab in the query of an address, or the first one: it is not in the address, and neither is an unknown one. */
export function tabAt<Id extends string>(search: string, tabs: readonly [Id, ...Id[]]): Id {
  const named = new URLSearchParams(search).get('tab');
  return tabs.find((tab) => tab === named) ?? tabs[0];
}

/** The query of an address with another tab, with `?` unless it is empty. Other parameters stay. */
export function searchOfTab<Id extends string>(search: string, tab: Id, first: Id): string {
  const parameters = new URLSearchParams(search);
  if (tab === first) parameters.delete('tab');
  else parameters.set('tab', tab);
  const query = parameters.toString();
  return query === '' ? '' : `?${query}`;
}
