/** The base class of elements. On a server, where no element can exist, it is an empty class, so that the modules can be imported. */
export const ElementBase: typeof HTMLElement =
  globalThis.HTMLElement ?? (class {} as unknown as typeof HTMLElement);

/** Defines an element, unless it exists: a page may load two copies of a module. Does nothing on a server. */
export function define(name: string, element: CustomElementConstructor): void {
  const { customElements } = globalThis;
  if (customElements !== undefined && customElements.get(name) === undefined)
    customElements.define(name, element);
}

/** Sets properties again that a page has set before the element was defined: they hide the accessors of the class. */
export function adoptProperties(element: HTMLElement, names: readonly string[]): void {
  for (const name of names) {
    if (!Object.hasOwn(element, name)) continue;
    const value: unknown = Reflect.get(element, name);
    Reflect.deleteProperty(element, name);
    Reflect.set(element, name, value);
  }
}
