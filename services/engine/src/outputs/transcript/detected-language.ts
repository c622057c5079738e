import type { Recognition } from '../../recognizers/read-answer.ts';
import { languageOfAnswer, primaryLanguage } from '../../recognizers/spoken-language.ts';

/**
 * When the language that was detected is named to the recogniser, which could be mistaken about a later part: after this many words, and in so many
 * parts, because a recogniser takes music for any language and invents words.
 */
const WORDS = 30;
const PARTS = 2;

/** The language that a recogniser detects, by the number of words in each. */
export class DetectedLanguage {
  /** By tag; null for languages that are not known. */
  readonly #found = new Map<string | null, { words: number; parts: number }>();

  add({ language, words }: Pick<Recognition, 'language' | 'words'>): void {
    if (words.length === 0) return;
    const tag = languageOfAnswer(language);
    const before = this.#found.get(tag) ?? { words: 0, parts: 0 };
    this.#found.set(tag, { words: before.words + words.length, parts: before.parts + 1 });
  }

  /** The language with the most words; null if it is not known. */
  get likely(): string | null {
    return this.#most?.[0] ?? null;
  }

  /** The same without region and script, once it is sure. */
  get sure(): string | null {
    const [tag, { words, parts }] = this.#most ?? [null, { words: 0, parts: 0 }];
    return tag !== null && words >= WORDS && parts >= PARTS ? primaryLanguage(tag) : null;
  }

  get #most() {
    const [first] = [...this.#found].toSorted(([, a], [, b]) => b.words - a.words);
    return first;
  }
}
