import { type ComponentType, createElement, lazy } from 'react';

/** A page whose files are loaded when it is opened. Shows `Failure` if they cannot be loaded. */
export function lazyPage<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Failure: ComponentType<{ error: unknown }>,
) {
  return lazy(async (): Promise<{ default: ComponentType<Props> }> => {
    try {
      return { default: await load() };
    } catch (error) {
      // biome-ignore lint/suspicious/noConsole: the page shows only that it could not be loaded.
      console.error(error);
      return { default: () => createElement(Failure, { error }) };
    }
  });
}
