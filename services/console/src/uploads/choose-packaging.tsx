import { Button, Modal, NativeSelect, Stack } from '@mantine/core';
import { useState } from 'react';
import { FormButtons } from '../ui/form-buttons.tsx';
import { PACKAGINGS } from '../ui/packaging-words.ts';
import type { PackagingRequest } from './upload-queue.ts';
import { usePackaging, useUploadQueue } from './uploads-provider.tsx';

/** Chooses how the segments of the next uploads and imports are packed. */
export function ChoosePackaging() {
  const [isOpen, setIsOpen] = useState(false);
  const queue = useUploadQueue();
  const packaging = usePackaging(queue);
  return (
    <>
      <Button variant="default" onClick={() => setIsOpen(true)}>
        {`Packaging: ${packaging === undefined ? 'default' : PACKAGINGS[packaging].short}`}
      </Button>
      <Modal opened={isOpen} onClose={() => setIsOpen(false)} title="Packaging" closeOnClickOutside={false}>
        <Form
          initial={packaging}
          onCancel={() => setIsOpen(false)}
          onChosen={(chosen) => {
            queue.setPackaging(chosen);
            setIsOpen(false);
          }}
        />
      </Modal>
    </>
  );
}

type FormProps = {
  initial: PackagingRequest | undefined;
  onCancel: () => void;
  onChosen: (packaging: PackagingRequest | undefined) => void;
};

function Form({ initial, onCancel, onChosen }: FormProps) {
  const [chosen, setChosen] = useState(initial);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onChosen(chosen);
      }}
    >
      <Stack>
        <p className="hint">
          It applies to every new video of this workspace that you upload or import here, until you choose
          another one. It cannot be changed afterwards. CMAF has fewer bytes for the same video. Safari has
          not been tried with it.
        </p>
        <NativeSelect
          label="Segments"
          value={chosen ?? ''}
          onChange={({ currentTarget }) =>
            setChosen(currentTarget.value === '' ? undefined : (currentTarget.value as PackagingRequest))
          }
          data={[
            { value: '', label: 'As this installation does' },
            ...Object.entries(PACKAGINGS).map(([value, { long }]) => ({ value, label: long })),
          ]}
        />
        <FormButtons cancel="Cancel" onCancel={onCancel} submit="Use" disabled={false} loading={false} />
      </Stack>
    </form>
  );
}
