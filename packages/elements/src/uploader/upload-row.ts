import { createPart } from './create-part.ts';
import { failureWords } from './failure-words.ts';
import { canPause, canResume, isUnfinished, percentOf, type UploadItem } from './upload-items.ts';
import { fill, formatBytes, type Words } from './words.ts';

/** What the buttons of a file do. */
export type RowHandlers = { onPause: () => void; onResume: () => void; onRemove: () => void };

/** One file of the list. Its elements stay the same, so that a button keeps the focus while the upload proceeds. */
export class UploadRow {
  readonly element = createPart('li', 'item');
  readonly #name = createPart('div', 'name');
  readonly #status = createPart('div', 'status');
  readonly #progress = createPart('progress', 'progress');
  readonly #error = createPart('p', 'error');
  /** Pauses, resumes or retries. */
  readonly #toggle = createPart('button', 'button toggle');
  readonly #remove = createPart('button', 'button remove');
  #item: UploadItem | undefined;
  #words: Words | undefined;
  #language: string | undefined;

  constructor({ onPause, onResume, onRemove }: RowHandlers) {
    const actions = createPart('div', 'actions');
    actions.append(this.#toggle, this.#remove);
    this.element.append(this.#name, this.#status, actions, this.#progress, this.#error);
    for (const button of [this.#toggle, this.#remove]) button.type = 'button';
    this.#progress.max = 100;
    this.#toggle.addEventListener('click', () => {
      if (this.#item !== undefined && canPause(this.#item)) onPause();
      else onResume();
    });
    this.#remove.addEventListener('click', onRemove);
  }

  /** Moves the focus to this row. */
  focus(): void {
    this.#remove.focus();
  }

  /** Shows the state of the file. */
  show(item: UploadItem, words: Words, language: string | undefined): void {
    // A long list is shown for each progress of one file.
    if (item === this.#item && words === this.#words && language === this.#language) return;
    this.#item = item;
    this.#words = words;
    this.#language = language;
    const { file, state, error } = item;
    const { name } = file;
    setText(this.#name, name);
    this.#name.title = name;
    const values = { percent: percentOf(item), size: formatBytes(file.size, language) };
    const hasFailed = state === 'failed' || state === 'refused';
    setText(this.#status, hasFailed ? '' : fill(words[state], values));
    setText(this.#error, hasFailed ? failureWords(error, words) : '');
    this.#error.hidden = !hasFailed;
    this.#progress.value = values.percent;
    this.#progress.hidden = !isUnfinished(item);
    this.#progress.setAttribute('aria-label', fill(words.progress, { name }));
    this.#toggle.hidden = !canPause(item) && !canResume(item);
    label(this.#toggle, canPause(item) ? words.pause : state === 'failed' ? words.retry : words.resume);
    label(this.#remove, isUnfinished(item) ? words.cancel : words.remove);

    function label(button: HTMLButtonElement, action: string): void {
      setText(button, action);
      button.setAttribute('aria-label', fill(words.actionOn, { action, name }));
    }
  }
}

/** Only if it differs: screen readers may announce a text that is set again. */
function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
