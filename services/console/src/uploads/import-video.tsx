import { Checkbox, Modal, Stack, Textarea, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/api.ts';
import { fieldMessage } from '../api/problem.ts';
import { FormButtons } from '../ui/form-buttons.tsx';
import { FormError } from '../ui/form-error.tsx';
import { importRequest, wrongHeaderLine } from './import-request.ts';
import { TrimFields } from './trim-fields.tsx';
import { trimForm, trimRequest } from './trim-request.ts';
import { usePackaging, useUploadQueue, useWatermark } from './uploads-provider.tsx';

/** Creates a video from a URL. The engine fetches the file; the list of videos shows the progress. */
export function ImportVideo({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [begun, setBegun] = useState('');
  return (
    <>
      <div role="status" className="only-for-readers">
        {begun}
      </div>
      <Modal opened={opened} onClose={onClose} title="Import from URL" closeOnClickOutside={false}>
        <ImportForm
          onCancel={onClose}
          onBegun={(title) => {
            onClose();
            setBegun(`The import of ${title} has begun`);
          }}
        />
      </Modal>
    </>
  );
}

type ImportFormProps = { onCancel: () => void; onBegun: (title: string) => void };

function ImportForm({ onCancel, onBegun }: ImportFormProps) {
  const queries = useQueryClient();
  const [url, setUrl] = useState('');
  const [title, setTitle] = useState('');
  const [headers, setHeaders] = useState('');
  const [audioOnly, setAudioOnly] = useState(false);
  const [times, setTimes] = useState(trimForm());
  const queue = useUploadQueue();
  const watermark = useWatermark(queue);
  const packaging = usePackaging(queue);
  const { trim, errors: wrongTimes } = trimRequest(times);
  const wrongLine = wrongHeaderLine(headers);
  const creation = useMutation({
    mutationFn: () =>
      api.videos.import(importRequest({ url, title, headers, audioOnly, trim, watermark, packaging })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['videos'] }),
  });
  const { error } = creation;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        creation.mutate(undefined, { onSuccess: ({ title }) => onBegun(title) });
      }}
    >
      <Stack>
        <TextInput
          label="URL of the file"
          description="On a web server with a public address"
          type="url"
          placeholder="https://media.example.com/holiday.mp4"
          value={url}
          onChange={({ currentTarget }) => setUrl(currentTarget.value)}
          error={fieldMessage(error, 'url')}
          maxLength={2048}
          required
          data-autofocus
        />
        <TextInput
          label="Title"
          description="Without one, the video is named for the file"
          value={title}
          onChange={({ currentTarget }) => setTitle(currentTarget.value)}
          error={fieldMessage(error, 'title')}
          maxLength={512}
        />
        <Textarea
          label="Request headers"
          description="One per line, only if the server needs them. They are stored encrypted, never shown, and erased when the import ends."
          placeholder="Authorization: Bearer …"
          value={headers}
          onChange={({ currentTarget }) => setHeaders(currentTarget.value)}
          error={
            wrongLine === undefined
              ? fieldMessage(error, 'headers')
              : `Write “Name: value”, not “${wrongLine}”`
          }
          rows={3}
          spellCheck={false}
          autoComplete="off"
        />
        <Checkbox
          label="Sound alone, such as a podcast"
          checked={audioOnly}
          onChange={({ currentTarget }) => setAudioOnly(currentTarget.checked)}
        />
        <TrimFields
          form={times}
          errors={wrongTimes ?? { end: fieldMessage(error, 'trim') ?? undefined }}
          onChange={setTimes}
        />
        <FormError error={error} fields={['url', 'title', 'headers', 'trim']} />
        <FormButtons
          cancel="Cancel"
          onCancel={onCancel}
          submit="Import"
          disabled={url.trim() === '' || wrongLine !== undefined || wrongTimes !== undefined}
          loading={creation.isPending}
        />
      </Stack>
    </form>
  );
}
