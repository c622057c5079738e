/**
 * Corrects roles in media-chrome for screen readers. Menus must contain only menu items, but their "back" button is not one. The button for
 * captions can be on or off, so it needs the role of a switch.
 */
export function correctRoles(root: HTMLElement): void {
  for (const element of root.querySelectorAll('*')) {
    for (const back of element.shadowRoot?.querySelectorAll('button[part~="back"]') ?? []) {
      back.setAttribute('role', 'menuitem');
    }
  }
  root.querySelector('media-captions-button')?.setAttribute('role', 'switch');
}
