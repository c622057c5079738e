import type { Video } from '@framelane/client';
import { Anchor, SegmentedControl } from '@mantine/core';
import { API_URL, DOCS_URL } from '../paths.ts';
import { CodeBlock } from '../ui/code-block.tsx';
import { useCodeLanguage } from './code-language.ts';
import { LANGUAGE_NAMES, LANGUAGES, type Language, snippetOf, TOKEN } from './code-snippets.ts';

/** What each language needs, and the guide to it below the documentation. */
const NOTES: Record<Language, { words: string; guide: string; name: string }> = {
  html: { words: 'The player page in a frame, for any site.', guide: 'embed', name: 'Player page' },
  react: {
    words: 'A component of @framelane/elements, which needs @framelane/client beside it.',
    guide: 'nextjs',
    name: 'Next.js',
  },
  hls: { words: 'The stream in a player of your own, with the package hls.js.', guide: 'hls', name: 'HLS' },
  curl: { words: 'For a shell, with an API key in FRAMELANE_API_KEY.', guide: 'cli', name: 'Command line' },
  node: {
    words: 'For Node, with @framelane/client and an API key in FRAMELANE_API_KEY.',
    guide: 'nextjs#the-client',
    name: 'The client in Next.js',
  },
};

/** Code for programs and sites with the ids of a video. */
export function CodeSection({ video }: { video: Video }) {
  const [language, choose] = useCodeLanguage();
  const { words, guide, name } = NOTES[language];
  const code = snippetOf(language, video, API_URL);
  return (
    <div className="code-section">
      <SegmentedControl
        className="languages"
        aria-label="Language"
        value={language}
        onChange={(chosen) => choose(chosen as Language)}
        data={LANGUAGES.map((value) => ({ value, label: LANGUAGE_NAMES[value] }))}
      />
      <p className="hint">
        {words}{' '}
        <Anchor href={DOCS_URL + guide} target="_blank" rel="noopener" inherit underline="always">
          {`Guide: ${name}`}
        </Anchor>
      </p>
      {code === undefined ? (
        <p className="hint">The stream has a URL when the video can be played.</p>
      ) : (
        <CodeBlock label={`Code in ${LANGUAGE_NAMES[language]}`} code={code} />
      )}
      {video.playbackPolicy === 'signed' && <p className="hint">{TOKEN_WORDS[language]}</p>}
    </div>
  );
}

const REPLACE = `Replace ${TOKEN} with a playback token that your server creates for each viewer: see curl and Node.`;
const TOKEN_WORDS: Record<Language, string> = {
  html: REPLACE,
  react:
    'The property “token” is a playback token that your server creates for each viewer: see curl and Node.',
  hls: REPLACE,
  curl: 'The response has a playback token that is valid for an hour.',
  node: 'Give the token to the viewer. It is valid for an hour.',
};
