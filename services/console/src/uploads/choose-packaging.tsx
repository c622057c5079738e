import { Button, Modal, NativeSelect, Stack } from '@mantine/core';
import Package from 'lucide-react/icons/package';
import { useState } from 'react';
import { FormButtons } from '../ui/form-buttons.tsx';
import { codecNames, HDR_CHOICES, HDR_NAMES, PACKAGING_NAMES, PACKAGINGS } from '../ui/packaging-words.ts';
import {
  CODEC_CHOICES,
  hasFurther,
  type PackagingRequest,
  packagingWords,
  withCodecs,
  withHdr,
  withPackaging,
} from './packaging-request.ts';
import { usePackaging, useUploadQueue } from './uploads-provider.tsx';

/** Chooses how the segments of the next uploads and imports are packed, their codecs, and what becomes of high dynamic range. */
export function ChoosePackaging() {
  const [isOpen, setIsOpen] = useState(false);
  const queue = useUploadQueue();
  const packaging = usePackaging(queue);
  return (
    <>
      <Button variant="default" leftSection={<Package />} onClick={() => setIsOpen(true)}>
        {`Packaging: ${packagingWords(packaging)}`}
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
  initial: PackagingRequest;
  onCancel: () => void;
  onChosen: (packaging: PackagingRequest) => void;
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
          not been tried with it. AV1 and HEVC have still fewer bytes, but take longer: they follow when the
          video can be played. They need CMAF. Only they can keep high dynamic range, unless there is a
          watermark.
        </p>
        <NativeSelect
          label="Segments"
          value={chosen.packaging ?? ''}
          disabled={hasFurther(chosen.codecs)}
          onChange={({ currentTarget: { value } }) => setChosen(withPackaging(chosen, value))}
          data={[
            { value: '', label: 'As this installation does' },
            ...PACKAGING_NAMES.map((value) => ({ value, label: PACKAGINGS[value].long })),
          ]}
        />
        <NativeSelect
          label="Codecs"
          value={chosen.codecs?.join() ?? ''}
          onChange={({ currentTarget: { value } }) => setChosen(withCodecs(chosen, value))}
          data={[
            { value: '', label: 'As this installation does' },
            ...CODEC_CHOICES.map((codecs) => ({ value: codecs.join(), label: codecNames(codecs) })),
          ]}
        />
        <NativeSelect
          label="High dynamic range"
          value={chosen.hdr ?? ''}
          disabled={!hasFurther(chosen.codecs)}
          onChange={({ currentTarget: { value } }) => setChosen(withHdr(chosen, value))}
          data={[
            { value: '', label: 'As this installation does' },
            ...HDR_NAMES.map((value) => ({ value, label: HDR_CHOICES[value].long })),
          ]}
        />
        <FormButtons cancel="Cancel" onCancel={onCancel} submit="Use" disabled={false} loading={false} />
      </Stack>
    </form>
  );
}
