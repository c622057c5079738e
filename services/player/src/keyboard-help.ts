/** Opens the list of keys with the question mark and from the menu, until `signal` aborts. */
export function offerKeyboardHelp(root: HTMLElement, signal: AbortSignal): void {
  const dialog = document.querySelector<HTMLDialogElement>('#keys');
  if (!dialog) return;
  const open = () => {
    if (!dialog.open) dialog.showModal();
  };
  const onKey = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent) => {
    if (key === '?' && !ctrlKey && !metaKey && !altKey) open();
  };
  document.addEventListener('keydown', onKey, { signal });
  const item = root.querySelector<HTMLElement>('.keyboard');
  const openFromMenu = () => {
    // The menu closes when it loses the focus, so its item cannot have the focus again after the list.
    const menu = root.querySelector<HTMLElement>('media-settings-menu');
    if (menu) menu.hidden = true;
    root.querySelector<HTMLElement>('media-settings-menu-button')?.focus();
    open();
  };
  item?.addEventListener('click', openFromMenu, { signal });
  // media-chrome makes no clicks of keys for an item that is no choice.
  const onItemKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    // Otherwise the same key would press the button of the list, which has the focus now.
    event.preventDefault();
    openFromMenu();
  };
  item?.addEventListener('keydown', onItemKey, { signal });
  // A click beside the list closes it, too. A form would not: a frame with `sandbox` may refuse it.
  const onClick = ({ target }: MouseEvent) => {
    if (target === dialog || target instanceof HTMLButtonElement) dialog.close();
  };
  dialog.addEventListener('click', onClick, { signal });
  signal.addEventListener('abort', () => dialog.close());
}
