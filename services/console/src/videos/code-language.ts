import { useState } from 'react';
import { LANGUAGES, type Language } from './code-snippets.ts';

const STORED_AS = 'framelane-code-language';

/** The language of code, and a function that chooses another one. The choice is stored in the browser. */
export function useCodeLanguage(): [Language, (language: Language) => void] {
  const [language, setLanguage] = useState(() => {
    const stored = localStorage.getItem(STORED_AS);
    return LANGUAGES.find((each) => each === stored) ?? 'html';
  });
  const choose = (chosen: Language) => {
    localStorage.setItem(STORED_AS, chosen);
    setLanguage(chosen);
  };
  return [language, choose];
}
