import { Button, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useShortcut } from '../ui/shortcuts.ts';
import { ChoosePackaging } from './choose-packaging.tsx';
import { ChooseTrim } from './choose-trim.tsx';
import { ChooseWatermark } from './choose-watermark.tsx';
import { ImportVideo } from './import-video.tsx';
import { useUploadQueue } from './uploads-provider.tsx';

/** The files that a file chooser offers. Other files can be dropped. */
export const VIDEO_FILES = 'video/*,audio/*,.mkv,.mxf,.ts,.mts,.m2ts';

/** Takes files that are dropped anywhere on the page, or chosen. */
export function DropZone() {
  const { add } = useUploadQueue();
  const [isOver, setIsOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useShortcut('u', 'Upload files', () => input.current?.click());

  useEffect(() => {
    const carriesFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
    const onDragOver = (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      // Without this the browser would open the file.
      event.preventDefault();
      if (event.dataTransfer !== null) event.dataTransfer.dropEffect = 'copy';
      setIsOver(true);
    };
    const onDragLeave = (event: DragEvent) => {
      if (event.relatedTarget === null) setIsOver(false);
    };
    const onDrop = (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      setIsOver(false);
      add(event.dataTransfer?.files ?? []);
    };
    addEventListener('dragover', onDragOver);
    addEventListener('dragleave', onDragLeave);
    addEventListener('drop', onDrop);
    return () => {
      removeEventListener('dragover', onDragOver);
      removeEventListener('dragleave', onDragLeave);
      removeEventListener('drop', onDrop);
    };
  }, [add]);

  return (
    <div className={isOver ? 'drop-zone over' : 'drop-zone'}>
      <Text>Drop video or audio files anywhere on this page.</Text>
      <div className="buttons">
        <ChooseTrim />
        <ChooseWatermark />
        <ChoosePackaging />
        <ImportVideo />
        <Button onClick={() => input.current?.click()}>Choose files</Button>
      </div>
      <input
        ref={input}
        type="file"
        multiple
        accept={VIDEO_FILES}
        hidden
        aria-label="Files to upload"
        onChange={({ currentTarget }) => {
          add(currentTarget.files ?? []);
          // So that the same file can be chosen again.
          currentTarget.value = '';
        }}
      />
    </div>
  );
}
