import type { Video } from '@framelane/client';
import { Button, Group } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/api.ts';
import { API_URL } from '../paths.ts';
import { useSession } from '../sign-in/session.ts';
import { Confirm } from '../ui/confirm.tsx';
import { Fact, Facts } from '../ui/facts.tsx';
import { formatTime } from '../ui/format.ts';
import { Section } from '../ui/section.tsx';

/** The uploaded file: its format, how long it is kept, its download and its deletion. */
export function SourceSection({ video }: { video: Video }) {
  const { can, workspace } = useSession();
  const { stored, deletedAt } = video.sourceFile;
  if (!stored && deletedAt === null && video.source === null) return null;
  const isFinal = video.status === 'ready' || video.status === 'failed';
  return (
    <Section title="Uploaded file">
      {(stored || deletedAt !== null) && <p className="hint">{sourceWords(video)}</p>}
      {video.source !== null && <FormatFacts source={video.source} />}
      {stored && can('videos:read') && can('videos:write') && (
        <Group mt="xs">
          <Button
            component="a"
            href={`${API_URL}/videos/${video.id}/source?workspace=${workspace.id}`}
            download={video.filename}
            size="xs"
            variant="default"
          >
            Download
          </Button>
          {isFinal && <DeleteSource video={video} />}
        </Group>
      )}
    </Section>
  );
}

function FormatFacts({ source }: { source: NonNullable<Video['source']> }) {
  return (
    <Facts>
      <Fact name="Format">{source.container}</Fact>
      <Fact name="Codecs">
        {source.videoCodec ?? 'no video'}, {source.audioCodec ?? 'no audio'}
      </Fact>
      <Fact name="SHA-256">
        <span className="small-code">{source.sha256}</span>
      </Fact>
    </Facts>
  );
}

function sourceWords({ sourceFile: { stored, keptUntil, deletedAt } }: Video): string {
  if (!stored) return `It was deleted${deletedAt === null ? '' : ` at ${formatTime(deletedAt)}`}.`;
  return keptUntil === null ? 'It is stored.' : `It is stored until ${formatTime(keptUntil)}.`;
}

function DeleteSource({ video: { id, status } }: { video: Video }) {
  const [isOpen, setIsOpen] = useState(false);
  const queries = useQueryClient();
  const effect = status === 'ready' ? 'The video stays playable.' : 'The video can no longer be retried.';
  return (
    <>
      <Button size="xs" color="red" variant="outline" onClick={() => setIsOpen(true)}>
        Delete file
      </Button>
      <Confirm
        title="Delete the uploaded file"
        submit="Delete file"
        isOpen={isOpen}
        onClose={() => setIsOpen(false)}
        action={() => api.videos.deleteSource(id)}
        onDone={() => queries.invalidateQueries({ queryKey: ['videos'] })}
      >
        {`The file is deleted at once. This can't be undone. ${effect}`}
      </Confirm>
    </>
  );
}
