/** Opens the list of keys with the question mark and from the menu, until `signal` aborts. */
export function offerKeyboardHelp(root: HTMLElement, signal: AbortSignal): void {
  const dialog = document.querySelector<HTMLDialogElement>('#keys');
  const open = () => {
    if (dialog && !dialog.open) dialog.showModal();
  };
  const onKey = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent) => {
    if (key === '?' && !ctrlKey && !metaKey && !altKey) open();
  };
  document.addEventListener('keydown', onKey, { signal });
  root.querySelector('.keyboard')?.addEventListener('click', open, { signal });
  // A click beside the list closes it.
  const onClick = (event: MouseEvent) => event.target === dialog && dialog?.close();
  dialog?.addEventListener('click', onClick, { signal });
}
