import { Button } from '@mantine/core';
import Import from 'lucide-react/icons/import';
import Upload from 'lucide-react/icons/upload';
import { useEffect, useState } from 'react';
import { ChoosePackaging } from './choose-packaging.tsx';
import { ChooseTrim } from './choose-trim.tsx';
import { ChooseWatermark } from './choose-watermark.tsx';
import { useNewVideos } from './new-videos.tsx';
import { useUploadQueue } from './uploads-provider.tsx';

/** Takes files that are dropped anywhere on the page, and has the ways to create videos. */
export function DropZone() {
  const { add } = useUploadQueue();
  const [isOver, setIsOver] = useState(false);
  const { chooseFiles, openImport } = useNewVideos();

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
    <>
      <div className="buttons new-videos">
        <ChooseTrim />
        <ChooseWatermark />
        <ChoosePackaging />
        <Button variant="default" leftSection={<Import />} onClick={openImport}>
          Import from URL
        </Button>
        <Button leftSection={<Upload />} onClick={chooseFiles}>
          Upload files
        </Button>
      </div>
      {isOver && (
        <div className="drop-cover" aria-hidden>
          <Upload />
          Drop the files to upload them
        </div>
      )}
    </>
  );
}
