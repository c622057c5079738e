import { Button } from '@mantine/core';
import Import from 'lucide-react/icons/import';
import Upload from 'lucide-react/icons/upload';
import { ChoosePackaging } from './choose-packaging.tsx';
import { ChooseTrim } from './choose-trim.tsx';
import { ChooseWatermark } from './choose-watermark.tsx';
import { DroppedFiles } from './dropped-files.tsx';
import { useNewVideos } from './new-videos.tsx';

/** Takes files that are dropped anywhere on the page, and has the ways to create videos. */
export function DropZone() {
  const { chooseFiles, openImport } = useNewVideos();
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
      <DroppedFiles />
    </>
  );
}
