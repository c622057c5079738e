import { addCopyButtons } from './copy-buttons.ts';
import { followOutline } from './outline.ts';
import { Search } from './search.ts';
import { showThemeButton } from './theme-button.ts';

function find<T extends HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`The page has no element ${id}`);
  return element as T;
}

/** The address of the site. This script is in its folder `files`. */
const site = new URL('../', import.meta.url);
/** Static files have an extension in their address, such as that of the first page; an installation serves pages without. */
const extension = find<HTMLAnchorElement>('home').pathname.endsWith('.html') ? '.html' : '';

showThemeButton(find('theme'));
addCopyButtons(document.querySelectorAll('.code'));
followOutline([...document.querySelectorAll<HTMLAnchorElement>('.on-this-page a')]);

// The sidebar is longer than most windows.
const pages = find('pages');
const current = pages.querySelector<HTMLElement>('[aria-current="page"]');
if (current) pages.scrollTop = current.offsetTop - pages.clientHeight / 2;

const menu = find<HTMLButtonElement>('menu');
menu.addEventListener('click', () => {
  const isOpen = document.documentElement.classList.toggle('menu-open');
  menu.setAttribute('aria-expanded', String(isOpen));
});

const { search: indexUrl = '' } = document.documentElement.dataset;
new Search(
  {
    button: find('search-button'),
    dialog: find('search'),
    query: find('query'),
    results: find('results'),
    status: find('search-status'),
  },
  indexUrl,
  (id) => {
    const [name, anchor] = id.split('#');
    return new URL(`${name}${extension}${anchor === undefined ? '' : `#${anchor}`}`, site).href;
  },
);
