import { createContext, type ReactNode, use, useMemo, useRef, useState } from 'react';
import { useSession } from '../sign-in/session.ts';
import { useShortcut } from '../ui/shortcuts.ts';
import { ImportVideo } from './import-video.tsx';
import { useUploadQueue } from './uploads-provider.tsx';
import { VIDEO_FILES } from './video-files.ts';

type NewVideos = { chooseFiles: () => void; openImport: () => void };

const NewVideosContext = createContext<NewVideos | undefined>(undefined);

/** The ways to create a video, on every page. */
export function useNewVideos(): NewVideos {
  const newVideos = use(NewVideosContext);
  if (newVideos === undefined) throw new Error('There is no provider of new videos');
  return newVideos;
}

/** Holds the file chooser and the dialog for imports. */
export function NewVideosProvider({ children }: { children: ReactNode }) {
  const canWrite = useSession().can('videos:write');
  const { add } = useUploadQueue();
  const input = useRef<HTMLInputElement>(null);
  const [isImportOpen, setIsImportOpen] = useState(false);
  const newVideos = useMemo(
    () => ({ chooseFiles: () => input.current?.click(), openImport: () => setIsImportOpen(true) }),
    [],
  );
  useShortcut('u', 'Upload files', canWrite ? newVideos.chooseFiles : null);
  return (
    <NewVideosContext value={newVideos}>
      {children}
      {canWrite && (
        <>
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
          <ImportVideo opened={isImportOpen} onClose={() => setIsImportOpen(false)} />
        </>
      )}
    </NewVideosContext>
  );
}
