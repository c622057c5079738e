import { Checkbox, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { fieldMessage } from '../api/problem.ts';
import { FormButtons } from '../ui/form-buttons.tsx';
import { FormError } from '../ui/form-error.tsx';
import type { WebhookValues } from './webhook-patch.ts';
import { EVENT_TYPES, EVENTS } from './webhook-words.ts';

type WebhookFormProps = {
  initial: WebhookValues;
  submit: string;
  onSubmit: (values: WebhookValues) => void;
  onCancel: () => void;
  isPending: boolean;
  error: unknown;
};

/** The fields of a webhook. */
export function WebhookForm({ initial, submit, onSubmit, onCancel, isPending, error }: WebhookFormProps) {
  const [url, setUrl] = useState(initial.url);
  const [description, setDescription] = useState(initial.description ?? '');
  const [chosen, setChosen] = useState<string[]>(initial.events);
  const events = EVENT_TYPES.filter((type) => chosen.includes(type));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit({ url: url.trim(), description: description.trim() || null, events });
      }}
    >
      <Stack>
        <TextInput
          label="URL"
          description="The address of your endpoint, beginning with https://"
          value={url}
          onChange={({ currentTarget }) => setUrl(currentTarget.value)}
          error={fieldMessage(error, 'url')}
          maxLength={2048}
          inputMode="url"
          required
          data-autofocus
        />
        <TextInput
          label="Description"
          value={description}
          onChange={({ currentTarget }) => setDescription(currentTarget.value)}
          error={fieldMessage(error, 'description')}
          maxLength={512}
        />
        <Checkbox.Group
          label="Events"
          value={chosen}
          onChange={setChosen}
          error={fieldMessage(error, 'events')}
        >
          <Stack gap="xs" mt="xs">
            {EVENT_TYPES.map((type) => (
              <Checkbox key={type} value={type} label={type} description={EVENTS[type]} />
            ))}
          </Stack>
        </Checkbox.Group>
        {events.length === 0 && <Text size="sm">Choose at least one type of event.</Text>}
        <FormError error={error} fields={['url', 'description', 'events']} />
        <FormButtons
          cancel="Cancel"
          onCancel={onCancel}
          submit={submit}
          disabled={url.trim() === '' || events.length === 0}
          loading={isPending}
        />
      </Stack>
    </form>
  );
}
