import { Tabs } from '@mantine/core';
import { type ReactNode, useLayoutEffect, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import './page-tabs.css';
import { searchOfTab, tabAt } from './tab-address.ts';

export type PageTab<Id extends string> = { id: Id; name: string; content: ReactNode };

/** The chosen tab, which is in the address, and a function that chooses another one. */
export function useTab<Id extends string>(tabs: readonly [Id, ...Id[]]): [Id, (tab: Id) => void] {
  const search = useSearch();
  const [path, navigate] = useLocation();
  const choose = (tab: Id) => navigate(path + searchOfTab(search, tab, tabs[0]), { replace: true });
  return [tabAt(search, tabs), choose];
}

/** Moves the focus to a tab, and so the page to where it is. */
export function focusTab(tab: string): void {
  document.getElementById(`${ID}-tab-${tab}`)?.focus();
}

/** Scrolls a list that is wider than the screen to a tab, without scrolling the page. */
function scrollTo(tab: string): void {
  const element = document.getElementById(`${ID}-tab-${tab}`);
  const list = element?.parentElement;
  if (!element || !list) return;
  const [outer, inner] = [list.getBoundingClientRect(), element.getBoundingClientRect()];
  list.scrollLeft += inner.x + inner.width / 2 - (outer.x + outer.width / 2);
}

/** A page has one list of tabs. */
const ID = 'page';

type PageTabsProps<Id extends string> = {
  label: string;
  tabs: readonly PageTab<Id>[];
  chosen: Id;
  onChoose: (tab: Id) => void;
};

/** Parts of a page, of which one is shown. A part is made when it is shown for the first time, and keeps what was typed into it. */
export function PageTabs<Id extends string>({ label, tabs, chosen, onChoose }: PageTabsProps<Id>) {
  const [opened, setOpened] = useState<ReadonlySet<Id>>(new Set([chosen]));
  if (!opened.has(chosen)) setOpened(new Set([...opened, chosen]));
  useLayoutEffect(() => scrollTo(chosen), [chosen]);
  return (
    <Tabs
      id={ID}
      className="tabs"
      value={chosen}
      onChange={(tab) => tab !== null && onChoose(tab as Id)}
      // A hidden form still asks before its changes are lost.
      keepMountedMode="display-none"
    >
      <Tabs.List aria-label={label}>
        {tabs.map(({ id, name }) => (
          // Mantine activates the tab of an arrow key, but not that of Home and End.
          <Tabs.Tab key={id} value={id} onFocus={() => id !== chosen && onChoose(id)}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {tabs.map(({ id, content }) => (
        <Tabs.Panel key={id} value={id}>
          {opened.has(id) && content}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
