import type { Video } from '@framelane/client';
import { Button, Checkbox, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { CodeBlock } from '../ui/code-block.tsx';
import { TOKEN } from './code-snippets.ts';
import { EMBED_SWITCHES, type EmbedOptions, NO_OPTIONS, startError, withOptions } from './embed-options.ts';
import { shapeOf } from './player-shape.ts';
import { usePlaybackToken } from './queries.ts';
import { playerHtml } from './share-text.ts';

/** How long somebody types or chooses a colour before the preview is loaded again. */
const TYPING_MS = 400;

const SWITCH_WORDS: Record<(typeof EMBED_SWITCHES)[number], { label: string; description?: string }> = {
  autoplay: { label: 'Autoplay', description: 'Browsers start most videos without sound.' },
  muted: { label: 'Muted' },
  loop: { label: 'Loop' },
  remember: { label: 'Resume', description: 'The browser keeps where the viewer leaves the video.' },
};

/** The blue of the player. */
const FIRST_COLOR = '#4c9ffe';

/** HTML for a site with the options of the player page, and how it looks. The preview is loaded only while it is shown, so that no hidden player makes a sound. */
export function EmbedSection({ video, isShown }: { video: Video; isShown: boolean }) {
  const [options, setOptions] = useState(NO_OPTIONS);
  const isSigned = video.playbackPolicy === 'signed';
  const page = isSigned ? `${video.embed}?token=${TOKEN}` : video.embed;
  return (
    <div className="embed-section">
      <div className="embed-columns">
        <EmbedForm options={options} onChange={(changed) => setOptions({ ...options, ...changed })} />
        {isShown ? <Preview video={video} options={options} /> : <div className="embed-preview" />}
      </div>
      <CodeBlock label="HTML for a site" code={playerHtml(withOptions(page, options), video.title, video)} />
      {isSigned && (
        <p className="hint">
          {`Replace ${TOKEN} with a playback token that your server creates for each viewer. The tab “Code” shows how.`}
        </p>
      )}
    </div>
  );
}

type EmbedFormProps = { options: EmbedOptions; onChange: (changed: Partial<EmbedOptions>) => void };

function EmbedForm({ options, onChange }: EmbedFormProps) {
  return (
    <div className="embed-form">
      {EMBED_SWITCHES.map((name) => (
        <Checkbox
          key={name}
          {...SWITCH_WORDS[name]}
          checked={options[name]}
          onChange={({ currentTarget }) => onChange({ [name]: currentTarget.checked })}
        />
      ))}
      <TextInput
        label="Start at"
        placeholder="0:00"
        value={options.start}
        error={startError(options)}
        onChange={({ currentTarget }) => onChange({ start: currentTarget.value })}
      />
      <div className="embed-color">
        <TextInput
          label="Colour"
          type="color"
          value={options.color ?? FIRST_COLOR}
          onChange={({ currentTarget }) => onChange({ color: currentTarget.value })}
        />
        {options.color !== null && (
          <Button size="xs" variant="default" onClick={() => onChange({ color: null })}>
            Default colour
          </Button>
        )}
      </div>
    </div>
  );
}

function Preview({ video, options }: { video: Video; options: EmbedOptions }) {
  const { data: token } = usePlaybackToken(video);
  const [settled] = useDebouncedValue(options, TYPING_MS);
  const isSigned = video.playbackPolicy === 'signed';
  if (isSigned && token === undefined) return <div className="embed-preview" style={shapeOf(video)} />;
  const query = token === undefined ? '' : `?${new URLSearchParams({ token: token.token })}`;
  const src = withOptions(video.embed + query, settled);
  return (
    // Another frame for each URL: a frame that changes its URL would add to the history.
    <iframe
      key={src}
      className="embed-preview"
      style={shapeOf(video)}
      src={src}
      title={`Preview: ${video.title}`}
      allow="autoplay; fullscreen; picture-in-picture"
    />
  );
}
