/**
 * Corrects roles and names in media-chrome for screen readers. Menus must contain only menu items, but their "back" button is not one, and its
 * name does not contain its text, the title of the menu. The button for captions can be on or off, so it needs the role of a switch.
 */
export function correctRoles(root: HTMLElement): void {
  for (const element of root.querySelectorAll('*')) {
    for (const back of element.shadowRoot?.querySelectorAll('button[part~="back"]') ?? []) {
      back.setAttribute('role', 'menuitem');
      const title = element.querySelector(':scope > [slot="title"]')?.textContent;
      if (title) back.setAttribute('aria-label', `${title}, back to the previous menu`);
    }
  }
  root.querySelector('media-captions-button')?.setAttribute('role', 'switch');
}
