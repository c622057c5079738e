import type { Schemas, Video } from '@framelane/client';
import { Button, Stack, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/api.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { FormButtons } from '../ui/form-buttons.tsx';
import { choiceOf, mayWithdraw, requestedWords, unfinished, withdrawnAs } from './captions-words.ts';
import { useRefreshVideo } from './queries.ts';

/** The captions that a machine makes or could not make. */
export function UnfinishedCaptions({ video, mayWrite }: { video: Video; mayWrite: boolean }) {
  const refresh = useRefreshVideo(video.id);
  const again = useMutation({
    mutationFn: (language: string | null) =>
      api.captions.generate(video.id, language === null ? true : [language]),
    onSuccess: refresh,
  });
  const withdrawal = useMutation({
    mutationFn: (requested: Schemas['AutoCaptions']) => api.captions.delete(video.id, withdrawnAs(requested)),
    onSuccess: refresh,
  });
  return (
    <>
      {unfinished(video.autoCaptions).map((requested) => (
        <li key={requested.requestedLanguage}>
          <div className="row-words">
            <span className="row-title">{requestedWords(requested)}</span>
            <span className="hint">{requested.error?.message ?? 'Being made'}</span>
          </div>
          {mayWrite && requested.error !== null && video.status === 'ready' && (
            <Button
              size="xs"
              variant="default"
              loading={again.isPending}
              onClick={() => again.mutate(requested.requestedLanguage)}
              aria-label={`Try again: ${requestedWords(requested)}`}
            >
              Try again
            </Button>
          )}
          {mayWrite && mayWithdraw(requested, video.captions) && (
            <Button
              size="xs"
              variant="default"
              loading={withdrawal.isPending}
              onClick={() => withdrawal.mutate(requested)}
              aria-label={`Withdraw: ${requestedWords(requested)}`}
            >
              Withdraw
            </Button>
          )}
        </li>
      ))}
      {again.error && <ErrorAlert error={again.error} />}
      {withdrawal.error && <ErrorAlert error={withdrawal.error} />}
    </>
  );
}

/** Asks for captions by speech recognition. */
export function GenerateCaptionsForm({ videoId, onDone }: { videoId: string; onDone: () => void }) {
  const [languages, setLanguages] = useState('');
  const refresh = useRefreshVideo(videoId);
  const generation = useMutation({
    mutationFn: () => api.captions.generate(videoId, choiceOf(languages)),
    onSuccess: refresh,
  });
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        generation.mutate(undefined, { onSuccess: onDone });
      }}
    >
      <Stack>
        <p className="hint">
          A machine writes down what is said in the video. The captions say so. Check them before you rely on
          them.
        </p>
        <TextInput
          label="Languages"
          description="What is spoken, such as English or en, with commas between several. Without any, the language is detected"
          value={languages}
          onChange={({ currentTarget }) => setLanguages(currentTarget.value)}
        />
        {generation.error && <ErrorAlert error={generation.error} />}
        <FormButtons
          cancel="Cancel"
          onCancel={onDone}
          submit="Start recognition"
          disabled={false}
          loading={generation.isPending}
        />
      </Stack>
    </form>
  );
}
