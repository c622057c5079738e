import { FramelaneError } from '@framelane/client/browser';
import { adoptProperties, ElementBase } from '../element-base.ts';
import { styleSheet } from '../style-sheet.ts';
import { isAccepted } from './accepted-files.ts';
import { failureCode, failureWords } from './failure-words.ts';
import { parseJson } from './parse-json.ts';
import { requestTicket, type Ticket, ticketOf } from './request-ticket.ts';
import { forget, sender, type TicketSource } from './send-file.ts';
import { isUnfinished, type UploadItem } from './upload-items.ts';
import { UploadQueue } from './upload-queue.ts';
import { UPLOADER_CSS } from './uploader-css.ts';
import { UploaderView, type ViewOptions } from './uploader-view.ts';
import { DEFAULT_WORDS, fill, type Words, wordsWith } from './words.ts';

/** Bytes of a file that have arrived. */
export type UploadProgress = { file: File; videoId: string | undefined; sent: number; total: number };

/** A file that has arrived. Its video is transcoded from now on. `ticket` has what the server of the page responded with. */
export type UploadComplete = { file: File; videoId: string; ticket: Ticket | undefined };

/** A file that was not sent. `message` is what the uploader shows. */
export type UploadFailure = {
  file: File;
  videoId: string | undefined;
  code: string;
  message: string;
  error: unknown;
};

/** A file that the user has cancelled before it had arrived. `videoId` is known if it had a ticket. */
export type UploadCancel = { file: File; videoId: string | undefined };

/** The events of an uploader. They bubble. */
export type UploaderEventMap = {
  'upload-progress': CustomEvent<UploadProgress>;
  'upload-complete': CustomEvent<UploadComplete>;
  'upload-error': CustomEvent<UploadFailure>;
  'upload-cancel': CustomEvent<UploadCancel>;
};

/** What a file chooser offers. Many systems know no type of these extensions. */
const DEFAULT_ACCEPT = 'video/*,audio/*,.mkv,.mxf,.ts,.mts,.m2ts';

/**
 * `<framelane-uploader>`: sends files to Framelane with tickets from the server of the page, and takes part in forms. See README.md.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the interface only has overloads of a method of the class.
export class FramelaneUploaderElement extends ElementBase {
  static readonly formAssociated = true;
  static readonly observedAttributes = [
    'multiple',
    'accept',
    'disabled',
    'required',
    'words',
    'name',
    'lang',
  ];

  #view: UploaderView | undefined;
  #internals: ElementInternals | undefined;
  #words: Words = DEFAULT_WORDS;
  #requestTicket: ((file: File) => Promise<unknown>) | undefined;
  #isDisabledByForm = false;
  readonly #tickets: TicketSource = {
    getTicket: (file) => this.#ticketFor(file),
    scope: () => this.#endpoint() ?? '',
  };
  readonly #queue = new UploadQueue(sender(this.#tickets), {
    onChange: () => this.#show(),
    onProgress: ({ file, videoId, sent }) =>
      this.#emit<UploadProgress>('upload-progress', { file, videoId, sent, total: file.size }),
    onComplete: ({ file }, videoId, ticket) => {
      this.#view?.announce(fill(this.#words.announceSent, { name: file.name }));
      this.#emit<UploadComplete>('upload-complete', { file, videoId, ticket });
    },
    onError: (item) => this.#failed(item),
  });

  connectedCallback(): void {
    if (this.#view !== undefined) return;
    adoptProperties(this, ['words', 'requestTicket']);
    this.#internals ??= this.attachInternals();
    const root = this.attachShadow({ mode: 'open', delegatesFocus: true });
    root.adoptedStyleSheets = [styleSheet(UPLOADER_CSS)];
    this.#view = new UploaderView(root, {
      onFiles: (files) => this.#add(files),
      rowHandlers: (id) => ({
        onPause: () => this.#queue.pause(id),
        onResume: () => this.#queue.resume(id),
        onRemove: () => this.#remove(id),
      }),
    });
    this.#configure();
  }

  /** Uploads of an element that was removed from the page are paused. */
  disconnectedCallback(): void {
    queueMicrotask(() => {
      // Frameworks move elements by removing and inserting them.
      if (!this.isConnected) this.#queue.pauseAll();
    });
  }

  attributeChangedCallback(name: string, _before: string | null, after: string | null): void {
    if (name === 'words') this.#setWords(after === null ? {} : parseJson(after));
    this.#configure();
  }

  formDisabledCallback(isDisabled: boolean): void {
    this.#isDisabledByForm = isDisabled;
    this.#configure();
  }

  formResetCallback(): void {
    for (const { id } of this.#queue.items) this.#remove(id);
  }

  /** Requests a ticket in place of the attribute `endpoint`, for example with a header of the page's own. */
  get requestTicket(): ((file: File) => Promise<unknown>) | undefined {
    return this.#requestTicket;
  }

  set requestTicket(request: ((file: File) => Promise<unknown>) | undefined) {
    this.#requestTicket = request;
  }

  /** The texts that replace the English ones. The attribute has them as JSON. */
  get words(): Words {
    return this.#words;
  }

  set words(changes: Partial<Words>) {
    this.#setWords(changes);
    this.#configure();
  }

  /** The videos of the files that have arrived, in the order of the list. */
  get videoIds(): string[] {
    return this.#queue.items.flatMap(({ state, videoId }) =>
      state === 'sent' && videoId !== undefined ? videoId : [],
    );
  }

  /** Uploads files, like a choice of the user. */
  upload(files: Iterable<File>): void {
    this.#add([...files].map((file) => ({ file, isFolder: false })));
  }

  /** An error in the words of a page is reported, and the English ones stay: the uploader works nevertheless. */
  #setWords(changes: unknown): void {
    try {
      this.#words = wordsWith(changes);
    } catch (error) {
      reportError(error);
    }
  }

  #add(files: readonly { file: File; isFolder: boolean }[]): void {
    const chosen = this.hasAttribute('multiple') ? files : files.slice(0, 1);
    const accepted: File[] = [];
    const refused: { file: File; error: unknown }[] = [];
    for (const { file, isFolder } of chosen) {
      const code = this.#obstacleTo(file, isFolder);
      if (code === undefined) accepted.push(file);
      else refused.push({ file, error: new FramelaneError('The file is not sent.', { code }) });
    }
    // As with an input of one file, another one replaces it. A refused file must not cancel an upload.
    if (!this.hasAttribute('multiple') && chosen.length > 0)
      for (const { id, state } of this.#queue.items)
        if (accepted.length > 0 || state === 'refused') this.#remove(id);
    this.#queue.refuse(refused);
    this.#queue.add(accepted);
  }

  /** The code of the reason why a file is not sent. */
  #obstacleTo(file: File, isFolder: boolean): string | undefined {
    if (isFolder) return 'folder';
    if (!isAccepted(file, this.#options().accept)) return 'file_type';
    return file.size === 0 ? 'file_empty' : undefined;
  }

  async #ticketFor(file: File): Promise<Ticket> {
    if (this.#requestTicket !== undefined) return ticketOf(await this.#requestTicket(file));
    const endpoint = this.#endpoint();
    if (endpoint !== undefined) return requestTicket(endpoint, file);
    const message = 'Set endpoint of <framelane-uploader> to a URL of your server that returns tickets.';
    throw new FramelaneError(message, { code: 'endpoint_missing' });
  }

  /** Undefined if it is not set, or not a URL. */
  #endpoint(): string | undefined {
    const endpoint = this.getAttribute('endpoint');
    const isUrl = endpoint !== null && URL.canParse(endpoint, document.baseURI);
    return isUrl ? new URL(endpoint, document.baseURI).href : undefined;
  }

  #failed(item: UploadItem): void {
    const { file, videoId, error } = item;
    const message = failureWords(error, this.#words);
    this.#view?.announce(fill(this.#words.announceFailed, { name: file.name, reason: message }));
    const code = failureCode(error);
    this.#emit<UploadFailure>('upload-error', { file, videoId, code, message, error });
  }

  #remove(id: number): void {
    const item = this.#queue.items.find((each) => each.id === id);
    if (item === undefined) return;
    const { file, videoId } = item;
    this.#queue.remove(id);
    this.#view?.announce(fill(this.#words.announceRemoved, { name: file.name }));
    if (!isUnfinished(item)) return;
    forget(file, this.#tickets);
    this.#emit<UploadCancel>('upload-cancel', { file, videoId });
  }

  #options(): ViewOptions {
    return {
      words: this.#words,
      language: this.closest<HTMLElement>('[lang]')?.lang || undefined,
      accept: this.getAttribute('accept') ?? DEFAULT_ACCEPT,
      isMultiple: this.hasAttribute('multiple'),
      isDisabled: this.#isDisabledByForm || this.hasAttribute('disabled'),
    };
  }

  #configure(): void {
    this.#view?.configure(this.#options());
    this.#show();
  }

  #show(): void {
    this.#view?.show(this.#queue.items, this.#options());
    this.#updateForm();
  }

  /** The form gets the id of each video, and is not sent while files are being uploaded. */
  #updateForm(): void {
    const { videoIds } = this;
    const name = this.getAttribute('name');
    const values = new FormData();
    if (name !== null) for (const id of videoIds) values.append(name, id);
    this.#internals?.setFormValue(values);
    const isMissing = this.hasAttribute('required') && videoIds.length === 0;
    const isUploading = this.#queue.items.some(isUnfinished);
    const anchor = this.#view?.chooseButton;
    if (isUploading) this.#internals?.setValidity({ customError: true }, this.#words.stillUploading, anchor);
    else if (isMissing)
      this.#internals?.setValidity({ valueMissing: true }, this.#words.valueMissing, anchor);
    else this.#internals?.setValidity({});
  }

  #emit<Detail>(name: keyof UploaderEventMap, detail: Detail): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }
}

/** Types of the events. */
export interface FramelaneUploaderElement {
  addEventListener<Name extends keyof UploaderEventMap>(
    type: Name,
    listener: (this: FramelaneUploaderElement, event: UploaderEventMap[Name]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

declare global {
  interface HTMLElementTagNameMap {
    'framelane-uploader': FramelaneUploaderElement;
  }
}
