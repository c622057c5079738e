import type { Schemas } from '@framelane/client';
import { Stack, Textarea } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/api.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { FormButtons } from '../ui/form-buttons.tsx';
import { Loading } from '../ui/loading.tsx';
import { captionsErrors } from './captions-errors.ts';
import { labelOfEdited } from './captions-words.ts';
import { useRefreshVideo } from './queries.ts';

type EditorProps = { videoId: string; captions: Schemas['Captions']; onDone: () => void };

/** Edits the text of captions as WebVTT. What is saved is a person's. */
export function CaptionsEditor({ videoId, captions, onDone }: EditorProps) {
  const { data, error } = useQuery({
    queryKey: ['captions', videoId, captions.language, captions.updatedAt],
    queryFn: () => api.captions.get(videoId, captions.language),
    // What is being edited must not change.
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (error) return <ErrorAlert error={error} />;
  if (data === undefined) return <Loading />;
  return <EditorForm videoId={videoId} captions={captions} text={data} onDone={onDone} />;
}

function EditorForm({ videoId, captions, text, onDone }: EditorProps & { text: string }) {
  const [edited, setEdited] = useState(text);
  const refresh = useRefreshVideo(videoId);
  const label = labelOfEdited(captions);
  const saving = useMutation({
    mutationFn: () =>
      api.captions.set(videoId, captions.language, edited, {
        format: 'webvtt',
        ...(label !== undefined && { label }),
        default: captions.default,
      }),
    onSuccess: refresh,
  });
  const { file } = captionsErrors(saving.error);
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        saving.mutate(undefined, { onSuccess: onDone });
      }}
    >
      <Stack>
        <Textarea
          label="Text"
          description="A WebVTT file"
          value={edited}
          onChange={({ currentTarget }) => setEdited(currentTarget.value)}
          rows={16}
          spellCheck
          lang={captions.language}
          error={file}
        />
        {saving.error && file === undefined && <ErrorAlert error={saving.error} />}
        <FormButtons
          cancel="Cancel"
          onCancel={onDone}
          submit="Save captions"
          disabled={edited === text}
          loading={saving.isPending}
        />
      </Stack>
    </form>
  );
}
