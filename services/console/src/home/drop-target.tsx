import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import Clapperboard from 'lucide-react/icons/clapperboard';
import Import from 'lucide-react/icons/import';
import Upload from 'lucide-react/icons/upload';
import { useNewVideos } from '../uploads/new-videos.tsx';
import { useUploadQueue } from '../uploads/uploads-provider.tsx';
import { sampleVideo } from './sample-video.ts';

/** The ways to the first video. Files can be dropped anywhere on the page. */
export function DropTarget() {
  const { add } = useUploadQueue();
  const { chooseFiles, openImport } = useNewVideos();
  const trying = useMutation({ mutationFn: async () => add([await sampleVideo()]) });
  return (
    <div className="drop-target">
      <Upload />
      <p className="drop-words">Drop a video here</p>
      <p className="hint">It is uploaded to this installation, and can be played as soon as it is ready.</p>
      <div className="buttons">
        <Button leftSection={<Upload />} onClick={chooseFiles}>
          Upload files
        </Button>
        <Button
          variant="default"
          leftSection={<Clapperboard />}
          loading={trying.isPending}
          onClick={() => trying.mutate()}
        >
          Try a sample video
        </Button>
        <Button variant="default" leftSection={<Import />} onClick={openImport}>
          Import from URL
        </Button>
      </div>
      {trying.error && (
        <p role="alert" className="error-words">
          The sample video could not be loaded. Reload the page and try again, or choose a file.
        </p>
      )}
    </div>
  );
}
