import { Button, Group, Modal, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import Stamp from 'lucide-react/icons/stamp';
import { useState } from 'react';
import { api } from '../api/api.ts';
import { API_URL } from '../paths.ts';
import { useSession } from '../sign-in/session.ts';
import { Confirm } from '../ui/confirm.tsx';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { FileUpload } from '../ui/file-upload.tsx';
import { FormButtons } from '../ui/form-buttons.tsx';
import { formatBytes } from '../ui/format.ts';
import { Loading } from '../ui/loading.tsx';
import { CORNERS } from '../ui/watermark-words.ts';
import { useUploadQueue, useWatermark } from './uploads-provider.tsx';
import {
  isPercentage,
  MIN_WIDTH,
  type WatermarkForm,
  watermarkForm,
  watermarkRequest,
} from './watermark-request.ts';

const IMAGES_KEY = ['watermarks'];

/** Chooses the image that the next uploads and imports show. */
export function ChooseWatermark() {
  const [isOpen, setIsOpen] = useState(false);
  const queue = useUploadQueue();
  const watermark = useWatermark(queue);
  return (
    <>
      <Button variant="default" leftSection={<Stamp />} onClick={() => setIsOpen(true)}>
        {watermark === undefined ? 'Watermark: none' : 'Watermark: on'}
      </Button>
      <Modal opened={isOpen} onClose={() => setIsOpen(false)} title="Watermark" closeOnClickOutside={false}>
        <Form
          initial={watermarkForm(watermark)}
          onDeleted={(image) => {
            if (image === watermark?.image) queue.setWatermark(undefined);
          }}
          onCancel={() => setIsOpen(false)}
          onChosen={(form) => {
            queue.setWatermark(watermarkRequest(form));
            setIsOpen(false);
          }}
        />
      </Modal>
    </>
  );
}

type FormProps = {
  initial: WatermarkForm;
  onDeleted: (image: string) => void;
  onCancel: () => void;
  onChosen: (form: WatermarkForm) => void;
};

function Form({ initial, onDeleted, onCancel, onChosen }: FormProps) {
  const { workspace } = useSession();
  const queries = useQueryClient();
  const images = useQuery({ queryKey: IMAGES_KEY, queryFn: ({ signal }) => api.watermarks.list({ signal }) });
  const [form, setForm] = useState(initial);
  const [isRemoving, setIsRemoving] = useState(false);
  const refresh = () => queries.invalidateQueries({ queryKey: IMAGES_KEY });
  if (images.error) return <ErrorAlert error={images.error} />;
  if (images.data === undefined) return <Loading />;
  const chosen = images.data.find(({ id }) => id === form.image);
  const change = (changes: Partial<WatermarkForm>) => setForm((current) => ({ ...current, ...changes }));
  const isValid = isPercentage(form.width, MIN_WIDTH) && isPercentage(form.opacity, 0);
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onChosen({ ...form, image: chosen?.id ?? '' });
        }}
      >
        <Stack>
          <p className="hint">
            The image becomes part of every new video of this workspace that you upload or import here, until
            you choose none. All qualities are then encoded, so they are ready later. Sound files have none.
          </p>
          <NativeSelect
            label="Image"
            value={chosen?.id ?? ''}
            onChange={({ currentTarget }) => change({ image: currentTarget.value })}
            data={[
              { value: '', label: 'None' },
              ...images.data.map(({ id, name, width, height, bytes }) => ({
                value: id,
                label: `${name ?? id}, ${width} × ${height}, ${formatBytes(bytes)}`,
              })),
            ]}
          />
          <Group>
            <FileUpload
              label="File with the image"
              accept="image/png,image/jpeg"
              read={async (file) => file}
              advice="Choose a PNG or JPEG file."
              upload={async (file) => {
                const name = file.name.slice(0, MAX_NAME_LENGTH);
                const type = file.type === 'image/jpeg' ? 'image/jpeg' : 'image/png';
                change({ image: (await api.watermarks.create(file, { type, name })).id });
              }}
              onDone={refresh}
            >
              Add an image
            </FileUpload>
            {chosen !== undefined && (
              <Button size="xs" variant="outline" color="red" onClick={() => setIsRemoving(true)}>
                Delete this image
              </Button>
            )}
          </Group>
          {chosen !== undefined && (
            <>
              <img
                className="watermark"
                src={`${API_URL}/watermarks/${chosen.id}/image?workspace=${workspace.id}`}
                alt={`Watermark: ${chosen.name ?? chosen.id}`}
              />
              <NativeSelect
                label="Corner"
                value={form.corner}
                onChange={({ currentTarget }) =>
                  change({ corner: currentTarget.value as WatermarkForm['corner'] })
                }
                data={Object.entries(CORNERS).map(([value, label]) => ({ value, label }))}
              />
              <Percentage
                label="Width, in percent of the video"
                value={form.width}
                min={MIN_WIDTH}
                onChange={(width) => change({ width })}
              />
              <Percentage
                label="Opacity, in percent"
                value={form.opacity}
                min={0}
                onChange={(opacity) => change({ opacity })}
              />
            </>
          )}
          <FormButtons cancel="Cancel" onCancel={onCancel} submit="Use" disabled={!isValid} loading={false} />
        </Stack>
      </form>
      <Confirm
        title="Delete the image"
        submit="Delete"
        isOpen={isRemoving}
        onClose={() => setIsRemoving(false)}
        action={() => api.watermarks.delete(chosen?.id ?? '')}
        onDone={() => {
          change({ image: '' });
          onDeleted(form.image);
          return refresh();
        }}
      >
        New videos cannot use it any more. Videos that have it keep it.
      </Confirm>
    </>
  );
}

/** As in the contract. */
const MAX_NAME_LENGTH = 100;

type PercentageProps = { label: string; value: string; min: number; onChange: (value: string) => void };

function Percentage({ label, value, min, onChange }: PercentageProps) {
  return (
    <TextInput
      label={label}
      inputMode="decimal"
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      error={isPercentage(value, min) ? undefined : `Write a number from ${min} to 100`}
      required
    />
  );
}
