import { Button } from '@mantine/core';
import ChevronDown from 'lucide-react/icons/chevron-down';
import ChevronUp from 'lucide-react/icons/chevron-up';
import X from 'lucide-react/icons/x';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { paths } from '../paths.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { paceWords } from './progress-words.ts';
import { activeFirst, canPause, isActive, isOver, summaryOf } from './upload-items.ts';
import { UploadRow } from './upload-row.tsx';
import { useUploadItems, useUploadQueue } from './uploads-provider.tsx';

/**
 * The files of the upload queue: what is active first. One line while it is folded, and when all files have arrived. While nothing is active, only the pages that take files
 * show it, and once everything is over, only the list of videos.
 */
export function UploadsPanel() {
  const queue = useUploadQueue();
  const items = useUploadItems(queue);
  const [path] = useLocation();
  const summary = summaryOf(items);
  const isDone = items.every(isOver);
  // A choice for each: the panel folds itself when the last file has arrived.
  const [isOpenIn, setIsOpenIn] = useState({ work: true, arrived: false });
  const phase = items.every(({ state }) => state === 'sent') ? 'arrived' : 'work';
  const isOpen = isOpenIn[phase];
  const isShown =
    items.length > 0 && (path === paths.videos || items.some(isActive) || (path === paths.home && !isDone));
  return (
    <>
      <div role="status" className="only-for-readers">
        {summary}
      </div>
      {isShown && (
        <section className="uploads" aria-label="Uploads" data-open={isOpen}>
          <div className="uploads-head">
            <span className="uploads-summary" aria-hidden>
              {summary}
            </span>
            <span className="hint" aria-hidden>
              {paceWords(items).join(' · ')}
            </span>
            <IconButton
              label={isOpen ? 'Hide files' : 'Show files'}
              Icon={isOpen ? ChevronDown : ChevronUp}
              onClick={() => setIsOpenIn({ ...isOpenIn, [phase]: !isOpen })}
              aria-expanded={isOpen}
              aria-controls="upload-rows"
            />
            {isDone && <IconButton label="Clear finished" Icon={X} onClick={queue.clear} />}
          </div>
          {isOpen && !isDone && (
            <div className="buttons uploads-actions">
              {items.some(canPause) && <HeadButton onClick={queue.pauseAll}>Pause all</HeadButton>}
              {items.some(({ state }) => state === 'paused') && (
                <HeadButton onClick={queue.resumeAll}>Resume all</HeadButton>
              )}
              {items.filter(({ state }) => state === 'failed').length > 1 && (
                <HeadButton onClick={queue.retryAll}>Retry all</HeadButton>
              )}
              {items.some(isOver) && <HeadButton onClick={queue.clear}>Clear finished</HeadButton>}
            </div>
          )}
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
