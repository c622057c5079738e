/** Adds a button to each block of code that copies it. Browsers have a clipboard only on https and on localhost. */
export function addCopyButtons(blocks: Iterable<Element>): void {
  if (navigator.clipboard === undefined) return;
  for (const block of blocks) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      button.textContent = await copied(block.querySelector('code')?.textContent ?? '');
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 2000);
    });
    block.append(button);
  }
}

async function copied(text: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return 'Copied';
  } catch {
    return 'Not copied';
  }
}
