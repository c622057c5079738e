import {
  createIndicator,
  createMenuItem,
  MediaChromeMenu,
} from 'media-chrome/dist/menu/media-chrome-menu.js';
import { formatTime } from 'media-chrome/dist/utils/time.js';

/** A chapter as media-chrome passes it on. Times are in seconds. */
type ChapterCue = { text: string; startTime: number; endTime: number };

/** A menu of the chapters, which seeks to the start of one. It has the attribute `filled` if there are any. */
export class ChaptersMenu extends MediaChromeMenu {
  #cues: readonly ChapterCue[] = [];
  #time = 0;

  /** The controller sets it. */
  set mediaChaptersCues(cues: readonly ChapterCue[] | undefined) {
    if (JSON.stringify(cues ?? []) === JSON.stringify(this.#cues)) return;
    this.#cues = cues ?? [];
    this.toggleAttribute('filled', this.#cues.length > 0);
    const last = this.#cues.at(-1)?.startTime;
    const items = this.#cues.map(({ text, startTime }, at) => {
      const time = formatTime(startTime, last);
      const item = createMenuItem({
        type: 'radio',
        text: `${time} ${text}`,
        value: String(at),
        checked: false,
      });
      item.dataset.description = text;
      item.prepend(createIndicator(this, 'checked-indicator'));
      return item;
    });
    this.defaultSlot.replaceChildren(...items);
    this.#markCurrent();
  }

  get mediaChaptersCues(): readonly ChapterCue[] {
    return this.#cues;
  }

  /** Seconds. The controller sets it. */
  set mediaCurrentTime(time: number | undefined) {
    this.#time = time ?? 0;
    this.#markCurrent();
  }

  get mediaCurrentTime(): number {
    return this.#time;
  }

  /** Also the current chapter can be selected: it then starts again. */
  override handleSelect(event: MouseEvent | KeyboardEvent): void {
    super.handleSelect(event);
    const cue = this.#cues[Number(this.value)];
    if (this.value === '' || cue === undefined) return;
    const detail = cue.startTime;
    this.dispatchEvent(new CustomEvent('mediaseekrequest', { bubbles: true, composed: true, detail }));
  }

  #markCurrent(): void {
    const current = this.#cues.findLastIndex(({ startTime }) => startTime <= this.#time);
    const items = [...this.items.entries()].filter(([at, item]) => item.checked !== (at === current));
    for (const [at, item] of items) item.checked = at === current;
    // The settings menu then shows its name.
    if (items.length > 0) this.dispatchEvent(new Event('change'));
  }
}

customElements.define('chapters-menu', ChaptersMenu);
