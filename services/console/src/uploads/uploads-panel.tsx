import { Anchor, Button, Progress } from '@mantine/core';
import { Link } from 'wouter';
import { wordsFor } from '../api/problem.ts';
import { paths } from '../paths.ts';
import { formatBytes } from '../ui/format.ts';
import { type Item, percentOf, summaryOf } from './queue.ts';
import { useUploads } from './uploads-provider.tsx';

/** The files that are being uploaded. Nothing is shown without any. */
export function UploadsPanel() {
  const { items, clear } = useUploads();
  const summary = summaryOf(items);
  return (
    <>
      <div role="status" className="only-for-readers">
        {summary}
      </div>
      {items.length > 0 && (
        <section className="uploads" aria-label="Uploads">
          <div className="uploads-head">
            <span aria-hidden>{summary}</span>
            {items.some(({ state }) => state === 'sent') && (
              <Button size="compact-sm" variant="default" onClick={clear}>
                Clear uploaded
              </Button>
            )}
          </div>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long list scrolls, also by keyboard. */}
          <ul tabIndex={0} aria-label="Files">
            {items.map((item) => (
              <UploadRow key={item.id} item={item} />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function UploadRow({ item }: { item: Item }) {
  const { retry, remove } = useUploads();
  const { id, name, size, state, videoId, error } = item;
  const percent = percentOf(item);
  const hasArrived = state === 'sent';
  return (
    <li>
      <div className="upload-name">
        {hasArrived && videoId !== undefined ? (
          <Anchor component={Link} href={paths.video(videoId)}>
            {name}
          </Anchor>
        ) : (
          <span>{name}</span>
        )}
        <span className="hint">
          {formatBytes(size)} · {state === 'sending' ? `${percent} %` : STATE_WORDS[state]}
        </span>
      </div>
      <Progress
        value={percent}
        color={state === 'failed' ? 'red' : 'blue'}
        aria-label={`Upload of ${name}`}
      />
      {state === 'failed' && <div className="error-words">{wordsFor(error).detail}</div>}
      <div className="buttons">
        {state === 'failed' && (
          <Button size="compact-sm" variant="default" onClick={() => retry(id)} aria-label={`Retry ${name}`}>
            Retry
          </Button>
        )}
        {!hasArrived && (
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => remove(item)}
            aria-label={`Cancel ${name}`}
          >
            Cancel
          </Button>
        )}
      </div>
    </li>
  );
}

const STATE_WORDS = { waiting: 'waiting', sending: '', sent: 'uploaded', failed: 'failed' };
