import { Button } from '@mantine/core';
import { useState } from 'react';
import { paceWords } from './progress-words.ts';
import { activeFirst, canPause, summaryOf } from './upload-items.ts';
import { UploadRow } from './upload-row.tsx';
import { useUploadItems, useUploadQueue } from './uploads-provider.tsx';

/** The files of the upload queue, also those that were sent or have failed. Shows nothing while the queue is empty. */
export function UploadsPanel() {
  const queue = useUploadQueue();
  const items = useUploadItems(queue);
  const [isOpen, setIsOpen] = useState(true);
  const summary = summaryOf(items);
  return (
    <>
      <div role="status" className="only-for-readers">
        {summary}
      </div>
      {items.length > 0 && (
        <section className="uploads" aria-label="Uploads">
          <div className="uploads-head">
            <div className="uploads-summary" aria-hidden>
              <span>{summary}</span>
              <span className="hint">{paceWords(items).join(' · ')}</span>
            </div>
            <div className="buttons">
              {items.some(canPause) && <HeadButton onClick={queue.pauseAll}>Pause all</HeadButton>}
              {items.some(({ state }) => state === 'paused') && (
                <HeadButton onClick={queue.resumeAll}>Resume all</HeadButton>
              )}
              {items.filter(({ state }) => state === 'failed').length > 1 && (
                <HeadButton onClick={queue.retryAll}>Retry all</HeadButton>
              )}
              {items.some(({ state }) => state === 'sent') && (
                <HeadButton onClick={queue.clear}>Clear uploaded</HeadButton>
              )}
              <Button
                size="compact-sm"
                variant="default"
                onClick={() => setIsOpen(!isOpen)}
                aria-expanded={isOpen}
                aria-controls="upload-rows"
              >
                {isOpen ? 'Hide files' : 'Show files'}
              </Button>
            </div>
          </div>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long list scrolls, also by keyboard. */}
          <ul id="upload-rows" tabIndex={0} aria-label="Files" hidden={!isOpen}>
            {activeFirst(items).map((item) => (
              <UploadRow key={item.id} item={item} />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function HeadButton({ onClick, children }: { onClick: () => void; children: string }) {
  return (
    <Button size="compact-sm" variant="default" onClick={onClick}>
      {children}
    </Button>
  );
}
