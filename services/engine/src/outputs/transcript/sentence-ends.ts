/** Signs that end a sentence, and what closes after them. */
const END = /[.!?…。！？؟।][\s"'”’»)\]]*$/u;

/** What begins like this goes on with the sentence, whatever sign is before it. */
const LOWER_CASE = /^[^\p{L}\p{N}]*\p{Ll}/u;
const NUMBER = /^[^\p{L}\p{N}]*\p{N}/u;

/** A letter (“J.”, “z. B.”), or letters with full stops between them (“U.S.”, “Ph.D.”). */
const INITIALS = /^\p{L}$|^\p{L}{1,3}(?:\.\p{L}{1,3})+$/u;

/** “am 3. Oktober”. A year ends a sentence. */
const ORDINAL = /^\p{N}{1,2}$/u;

/** “Mr.”, “Dr.”, “Nr.”, “bzw.”, but not “TV.”: words that are spoken have a vowel. */
const WITHOUT_VOWEL = /^(?=.*\p{Ll})[\p{Script=Latin}\p{Script=Cyrillic}]+$/u;
const VOWEL = /[aeiouyæœøıаеёиоуыэюяєії]/iu;

/** “No. 5”, “fig. 3”, “Art. 7”: the most letters that are abbreviations before a number. */
const BEFORE_NUMBER = 4;

/**
 * Whether a sentence ends with a word, before the next one. There is no list of abbreviations for each language: a full stop also ends words that look
 * abbreviated in most of them. Some that have a vowel, such as “Prof.”, do end a sentence here.
 */
export function endsSentence(word: string, next: string): boolean {
  if (!END.test(word) || LOWER_CASE.test(next)) return false;
  const abbreviated = beforeStop(word);
  if (abbreviated === undefined) return true;
  return !isAbbreviated(abbreviated) && !(NUMBER.test(next) && abbreviated.length <= BEFORE_NUMBER);
}

/** Whether a word is abbreviated, such as a title, which belongs to the name after it. */
export function isAbbreviation(word: string): boolean {
  const abbreviated = beforeStop(word);
  return abbreviated !== undefined && isAbbreviated(abbreviated);
}

/** What is before the full stop at the end of a word; undefined if it does not end with one, or has nothing before it. */
function beforeStop(word: string): string | undefined {
  if (!word.endsWith('.')) return undefined;
  const text = word.slice(0, -1).replace(/^[^\p{L}\p{N}]+/u, '');
  return /[\p{L}\p{N}]$/u.test(text) ? text : undefined;
}

function isAbbreviated(text: string): boolean {
  const plain = text.normalize('NFD').replaceAll(/\p{M}/gu, '');
  return INITIALS.test(text) || ORDINAL.test(text) || (WITHOUT_VOWEL.test(plain) && !VOWEL.test(plain));
}
