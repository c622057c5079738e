import { createPart } from './create-part.ts';
import { droppedFiles } from './dropped-files.ts';
import type { UploadItem } from './upload-items.ts';
import { type RowHandlers, UploadRow } from './upload-row.ts';
import type { Words } from './words.ts';

/** What users do. */
export type ViewHandlers = {
  onFiles: (files: readonly { file: File; isFolder: boolean }[]) => void;
  rowHandlers: (id: number) => RowHandlers;
};

/** How the view shows itself. */
export type ViewOptions = {
  words: Words;
  language: string | undefined;
  accept: string;
  isMultiple: boolean;
  isDisabled: boolean;
};

/** The elements of an uploader: where files are chosen or dropped, and the list. */
export class UploaderView {
  readonly #zone = createPart('div', 'zone');
  /** Opens the file chooser. Form validation shows its message here. */
  readonly chooseButton = createPart('button', 'button choose');
  readonly #hint = createPart('span', 'hint');
  readonly #input = document.createElement('input');
  readonly #list = createPart('ul', 'list');
  readonly #live = document.createElement('div');
  readonly #rows = new Map<number, UploadRow>();
  readonly #handlers: ViewHandlers;
  #isDisabled = false;

  constructor(root: ShadowRoot, handlers: ViewHandlers) {
    this.#handlers = handlers;
    this.chooseButton.type = 'button';
    this.#input.type = 'file';
    this.#input.hidden = true;
    this.#zone.setAttribute('role', 'group');
    this.#live.setAttribute('role', 'status');
    // Safari takes the role from a list without bullets.
    this.#list.setAttribute('role', 'list');
    this.#zone.append(this.chooseButton, this.#hint, this.#input);
    root.append(this.#zone, this.#list, this.#live);
    this.#listen();
  }

  /** Shows texts and settings. */
  configure({ words, accept, isMultiple, isDisabled }: ViewOptions): void {
    this.#isDisabled = isDisabled;
    this.#zone.setAttribute('aria-label', words.label);
    this.#list.setAttribute('aria-label', words.files);
    this.chooseButton.textContent = isMultiple ? words.chooseSeveral : words.chooseOne;
    this.#hint.textContent = isMultiple ? words.dropSeveral : words.drop;
    this.chooseButton.disabled = isDisabled;
    this.#input.disabled = isDisabled;
    this.#input.multiple = isMultiple;
    this.#input.accept = accept;
  }

  /** Shows the files. */
  show(items: readonly UploadItem[], { words, language }: Pick<ViewOptions, 'words' | 'language'>): void {
    const ids = new Set(items.map(({ id }) => id));
    for (const [id, row] of this.#rows) if (!ids.has(id)) this.#removeRow(id, row);
    for (const item of items) this.#rowOf(item.id).show(item, words, language);
    this.#list.hidden = items.length === 0;
  }

  /** Says a sentence to users of screen readers. */
  announce(text: string): void {
    this.#live.textContent = text;
  }

  #rowOf(id: number): UploadRow {
    const known = this.#rows.get(id);
    if (known !== undefined) return known;
    const row = new UploadRow(this.#handlers.rowHandlers(id));
    this.#rows.set(id, row);
    this.#list.append(row.element);
    return row;
  }

  /** The focus moves to the next row, or else the previous one, or the button: otherwise the keyboard would start at the top of the page. */
  #removeRow(id: number, row: UploadRow): void {
    const hadFocus = row.element.matches(':focus-within');
    const rows = [...this.#rows.values()];
    const index = rows.indexOf(row);
    this.#rows.delete(id);
    row.element.remove();
    if (hadFocus) (rows[index + 1] ?? rows[index - 1] ?? this.chooseButton).focus();
  }

  #listen(): void {
    this.chooseButton.addEventListener('click', () => this.#input.click());
    this.#input.addEventListener('change', () => {
      const files = [...(this.#input.files ?? [])];
      // So that the same file can be chosen again.
      this.#input.value = '';
      this.#handlers.onFiles(files.map((file) => ({ file, isFolder: false })));
    });
    this.#zone.addEventListener('dragover', (event) => this.#drag(event));
    this.#zone.addEventListener('dragleave', ({ relatedTarget }) => {
      if (!(relatedTarget instanceof Node && this.#zone.contains(relatedTarget))) this.#over(false);
    });
    this.#zone.addEventListener('drop', (event) => {
      if (!carriesFiles(event)) return;
      // Otherwise the browser would open the file.
      event.preventDefault();
      this.#over(false);
      if (!this.#isDisabled) this.#handlers.onFiles(droppedFiles(event.dataTransfer?.items ?? []));
    });
  }

  #drag(event: DragEvent): void {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    if (event.dataTransfer !== null) event.dataTransfer.dropEffect = this.#isDisabled ? 'none' : 'copy';
    this.#over(!this.#isDisabled);
  }

  #over(isOver: boolean): void {
    this.#zone.classList.toggle('over', isOver);
  }
}

function carriesFiles({ dataTransfer }: DragEvent): boolean {
  return dataTransfer?.types.includes('Files') ?? false;
}
