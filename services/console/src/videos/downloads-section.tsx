import type { Schemas, Video } from '@framelane/client';
import { Anchor, Button, Group, NativeSelect } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/api.ts';
import { useSession } from '../sign-in/session.ts';
import { Confirm } from '../ui/confirm.tsx';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { Section } from '../ui/section.tsx';
import { choicesOf, downloadName, downloadWords } from './download-words.ts';
import { useRefreshVideo } from './queries.ts';

type Download = Schemas['Download'];

/** The files of a video that people can save. With the permission `videos:write`, they can be prepared and deleted. */
export function DownloadsSection({ video }: { video: Video }) {
  const { can } = useSession();
  const mayWrite = can('videos:write');
  return (
    <Section title="Downloads">
      {video.downloads.length === 0 && (
        <p className="hint">
          This video has no files for download. Unlike the stream, they are not encrypted.
        </p>
      )}
      <ul className="captions">
        {video.downloads.map((download) => (
          <li key={download.file}>
            <DownloadRow video={video} download={download} mayWrite={mayWrite} />
          </li>
        ))}
      </ul>
      {mayWrite && video.status === 'ready' && <Prepare video={video} />}
    </Section>
  );
}

function DownloadRow({
  video: { id },
  download,
  mayWrite,
}: {
  video: Video;
  download: Download;
  mayWrite: boolean;
}) {
  const [isDeleting, setIsDeleting] = useState(false);
  const refresh = useRefreshVideo(id);
  const name = downloadName(download.file);
  return (
    <>
      <div className="row-words">
        <span className="row-title">
          {download.url === null ? name : <Anchor href={download.url}>{name}</Anchor>}
        </span>
        <span className="hint">{downloadWords(download)}</span>
      </div>
      {mayWrite && (
        <Button
          size="xs"
          variant="outline"
          color="red"
          onClick={() => setIsDeleting(true)}
          aria-label={`Delete download: ${name}`}
        >
          Delete
        </Button>
      )}
      <Confirm
        title="Delete the download"
        submit="Delete download"
        isOpen={isDeleting}
        onClose={() => setIsDeleting(false)}
        action={() => api.downloads.delete(id, download.file)}
        onDone={refresh}
      >
        {`The file “${name}” is deleted at once. Its link does not work any more. The video stays playable.`}
      </Confirm>
    </>
  );
}

function Prepare({ video }: { video: Video }) {
  const choices = choicesOf(video);
  const [file, setFile] = useState<Download['file']>();
  const refresh = useRefreshVideo(video.id);
  const chosen = choices.find((choice) => choice === file) ?? choices[0];
  const preparation = useMutation({
    mutationFn: (name: Download['file']) => api.downloads.create(video.id, [name]),
    onSuccess: refresh,
  });
  if (chosen === undefined) return null;
  return (
    <>
      <Group align="end" mt="xs">
        <NativeSelect
          label="File"
          value={chosen}
          onChange={({ currentTarget }) => setFile(currentTarget.value as Download['file'])}
          data={choices.map((value) => ({ value, label: downloadName(value) }))}
        />
        <Button variant="default" loading={preparation.isPending} onClick={() => preparation.mutate(chosen)}>
          Prepare download
        </Button>
      </Group>
      {preparation.error && <ErrorAlert error={preparation.error} />}
    </>
  );
}
