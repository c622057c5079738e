/**
 * Mends what screen readers find wrong in media-chrome: menus must contain only menu items, but their "back" button is none; and the
 * button for captions is on or off, which only a switch can be.
 */
export function mendNames(root: HTMLElement): void {
  for (const element of root.querySelectorAll('*')) {
    for (const back of element.shadowRoot?.querySelectorAll('button[part~="back"]') ?? []) {
      back.setAttribute('role', 'menuitem');
    }
  }
  root.querySelector('media-captions-button')?.setAttribute('role', 'switch');
}
