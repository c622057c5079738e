import { Button, Modal, Stack } from '@mantine/core';
import Scissors from 'lucide-react/icons/scissors';
import { useState } from 'react';
import { FormButtons } from '../ui/form-buttons.tsx';
import { TrimFields } from './trim-fields.tsx';
import { type TrimForm, type TrimRequest, trimForm, trimRequest } from './trim-request.ts';
import { useTrim, useUploadQueue } from './uploads-provider.tsx';

/** Chooses the part of the next files that becomes a video. */
export function ChooseTrim() {
  const [isOpen, setIsOpen] = useState(false);
  const queue = useUploadQueue();
  const trim = useTrim(queue);
  return (
    <>
      <Button variant="default" leftSection={<Scissors />} onClick={() => setIsOpen(true)}>
        {trim === undefined ? 'Trim: none' : 'Trim: on'}
      </Button>
      <Modal opened={isOpen} onClose={() => setIsOpen(false)} title="Trim" closeOnClickOutside={false}>
        <Form
          initial={trimForm(trim)}
          onCancel={() => setIsOpen(false)}
          onChosen={(chosen) => {
            queue.setTrim(chosen);
            setIsOpen(false);
          }}
        />
      </Modal>
    </>
  );
}

type FormProps = {
  initial: TrimForm;
  onCancel: () => void;
  onChosen: (trim: TrimRequest | undefined) => void;
};

function Form({ initial, onCancel, onChosen }: FormProps) {
  const [form, setForm] = useState(initial);
  const { trim, errors } = trimRequest(form);
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onChosen(trim);
      }}
    >
      <Stack>
        <p className="hint">
          Of the files that you add next, only this part is published. It applies once: to the files that you
          choose or drop together. Leave a field empty for the beginning or the end of the file.
        </p>
        <TrimFields form={form} errors={errors} onChange={setForm} />
        <FormButtons
          cancel="Cancel"
          onCancel={onCancel}
          submit="Use"
          disabled={errors !== undefined}
          loading={false}
        />
      </Stack>
    </form>
  );
}
