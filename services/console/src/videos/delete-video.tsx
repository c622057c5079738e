import type { Video } from '@framelane/client';
import { Button, Group, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { api } from '../api/api.ts';
import { paths } from '../paths.ts';
import { useSession } from '../sign-in/session.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { FormButtons } from '../ui/form-buttons.tsx';
import { useToast } from '../ui/toasts.tsx';

/** Deletes a video after its title was typed. Nothing for somebody without the permission. */
export function DeleteVideo({ video: { id, title } }: { video: Video }) {
  const { can } = useSession();
  const [isOpen, setIsOpen] = useState(false);
  const [typed, setTyped] = useState('');
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const toast = useToast();
  const removal = useMutation({
    mutationFn: () => api.videos.delete(id),
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['videos', 'list'] }),
  });
  if (!can('videos:write')) return null;
  const close = () => {
    if (removal.isPending) return;
    removal.reset();
    setIsOpen(false);
    setTyped('');
  };
  return (
    <>
      <Group>
        <Button color="red" variant="outline" onClick={() => setIsOpen(true)}>
          Delete video
        </Button>
      </Group>
      <Modal opened={isOpen} onClose={close} title="Delete video">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            removal.mutate(undefined, {
              onSuccess: () => {
                navigate(paths.videos);
                toast({ words: 'Video deleted' });
              },
            });
          }}
        >
          <Stack>
            <Text>The video, its file and its streams are deleted at once. This cannot be undone.</Text>
            <TextInput
              label={`Type the title to confirm: ${title}`}
              value={typed}
              onChange={({ currentTarget }) => setTyped(currentTarget.value)}
              autoComplete="off"
              data-autofocus
            />
            {removal.error && <ErrorAlert error={removal.error} />}
            <FormButtons
              cancel="Keep"
              onCancel={close}
              submit="Delete"
              color="red"
              disabled={typed.trim() !== title.trim()}
              loading={removal.isPending}
            />
          </Stack>
        </form>
      </Modal>
    </>
  );
}
