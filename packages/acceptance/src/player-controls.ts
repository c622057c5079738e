import type { Page } from 'puppeteer-core';

/** The element of the player page that plays. */
export const VIDEO = `document.querySelector('framelane-video')`;

/** Whether it shows a frame. */
export const HAS_FRAME = `${VIDEO}?.readyState >= 2`;

/** Plays for a moment: before that, the page shows no controls. */
export async function beginAndPause(page: Page): Promise<void> {
  await page.waitForFunction(HAS_FRAME);
  await page.evaluate(`${VIDEO}.muted = true, ${VIDEO}.play()`);
  await page.waitForFunction(
    `document.querySelector('media-controller').hasAttribute('mediahasplayed') && ${VIDEO}.currentTime > 0.3`,
  );
  await page.evaluate(`${VIDEO}.pause()`);
}

/** Chooses the entry of a menu with this text, once it is there. */
export async function choose(page: Page, menu: string, text: string): Promise<void> {
  const item = `[...document.querySelector('${menu}').shadowRoot.querySelectorAll('media-chrome-menu-item')].find((each) => each.textContent.includes('${text}'))`;
  await page.waitForFunction(`${item} !== undefined`);
  await page.evaluate(`${item}.click()`);
}
