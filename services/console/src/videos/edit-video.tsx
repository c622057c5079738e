import type { Video } from '@framelane/client';
import { Button, Modal } from '@mantine/core';
import { useState } from 'react';
import { useSession } from '../sign-in/session.ts';
import { confirmDiscard, useUnsavedChanges } from '../ui/unsaved-changes.ts';
import { EditVideoForm } from './edit-video-form.tsx';

/** Opens the form for the fields that the owner of a video sets. Nothing for somebody without the permission. */
export function EditVideo({ video }: { video: Video }) {
  const { can } = useSession();
  const [isOpen, setIsOpen] = useState(false);
  const [isDirty, setIsDirty] = useState(false);
  useUnsavedChanges(isOpen && isDirty);
  if (!can('videos:write')) return null;
  const close = () => {
    setIsOpen(false);
    setIsDirty(false);
  };
  const leave = () => {
    if (!isDirty || confirmDiscard()) close();
  };
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setIsOpen(true)}>
        Edit
      </Button>
      <Modal opened={isOpen} onClose={leave} title="Edit video" size="lg" closeOnClickOutside={false}>
        <EditVideoForm video={video} onDirty={setIsDirty} onCancel={leave} onSaved={close} />
      </Modal>
    </>
  );
}
