import Upload from 'lucide-react/icons/upload';
import { useEffect, useState } from 'react';
import './dropped-files.css';
import { useUploadQueue } from './uploads-provider.tsx';

/** Takes files that are dropped anywhere on the page. */
export function DroppedFiles() {
  const { add } = useUploadQueue();
  const [isOver, setIsOver] = useState(false);

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

  if (!isOver) return null;
  return (
    <div className="drop-cover" aria-hidden>
      <Upload />
      Drop the files to upload them
    </div>
  );
}
