import type { Schemas, Video } from '@framelane/client';
import { Button, Group, Input } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { api } from '../api/api.ts';
import { useSession } from '../sign-in/session.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { Section } from '../ui/section.tsx';
import { readCaptionsFile } from './captions-file.ts';
import { formatStart } from './chapter-rows.ts';
import { ChaptersForm } from './chapters-form.tsx';
import { useChapters } from './queries.ts';

type Chapters = Schemas['Chapters'];

/** The chapters of a video. With the permission `videos:write`, they can be changed. `onChange` is called after a change. */
export function ChaptersSection({ video, onChange }: { video: Video; onChange: () => void }) {
  const { can } = useSession();
  const { data: chapters, error, refetch } = useChapters(video);
  const [isEditing, setIsEditing] = useState(false);
  const queries = useQueryClient();
  const changed = async () => {
    await queries.invalidateQueries({ queryKey: ['videos'] });
    onChange();
  };
  const actions = can('videos:write') && !isEditing && chapters !== undefined && (
    <Group gap="xs">
      <ImportChapters videoId={video.id} onDone={changed} />
      <Button size="xs" variant="default" onClick={() => setIsEditing(true)}>
        Edit chapters
      </Button>
    </Group>
  );
  return (
    <Section title="Chapters" action={actions}>
      {error !== null && <ErrorAlert error={error} retry={() => void refetch()} />}
      {chapters !== undefined && isEditing && (
        <ChaptersForm
          videoId={video.id}
          chapters={chapters.chapters}
          onSaved={changed}
          onDone={() => setIsEditing(false)}
        />
      )}
      {chapters !== undefined && !isEditing && <ChaptersList chapters={chapters} />}
    </Section>
  );
}

function ChaptersList({ chapters: { chapters, origin } }: { chapters: Chapters }) {
  if (chapters.length === 0) {
    return (
      <p className="hint">This video has no chapters. Players show chapters in the timeline and in a menu.</p>
    );
  }
  return (
    <>
      <ol className="chapters">
        {chapters.map(({ start, title }) => (
          <li key={start}>
            <span className="hint">{formatStart(start)}</span> <span>{title}</span>
          </li>
        ))}
      </ol>
      {origin === 'file' && <p className="hint">From the uploaded file</p>}
    </>
  );
}

/** Replaces all chapters with those of a WebVTT file. */
function ImportChapters({ videoId, onDone }: { videoId: string; onDone: () => Promise<void> }) {
  const input = useRef<HTMLInputElement>(null);
  const [unreadable, setUnreadable] = useState<string | null>(null);
  const upload = useMutation({
    mutationFn: (file: string) => api.chapters.set(videoId, file),
    onSuccess: onDone,
  });
  const take = async (file: File | undefined) => {
    if (file === undefined) return;
    upload.reset();
    setUnreadable(null);
    const read = await readCaptionsFile(file).catch(() => undefined);
    if (read === undefined) setUnreadable(`${file.name} cannot be read. Choose a WebVTT file in UTF-8.`);
    else upload.mutate(read.text);
  };
  return (
    <div>
      <Button size="xs" variant="default" loading={upload.isPending} onClick={() => input.current?.click()}>
        Import WebVTT
      </Button>
      <input
        ref={input}
        type="file"
        accept=".vtt,text/vtt"
        hidden
        aria-label="File with chapters"
        onChange={({ currentTarget }) => {
          void take(currentTarget.files?.[0]);
          // So that the same file can be chosen again after a correction.
          currentTarget.value = '';
        }}
      />
      {unreadable !== null && <Input.Error role="alert">{unreadable}</Input.Error>}
      {upload.error && <ErrorAlert error={upload.error} />}
    </div>
  );
}
