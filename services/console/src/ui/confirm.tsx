import { Modal, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorAlert } from './error-alert.tsx';
import { FormButtons } from './form-buttons.tsx';

type ConfirmProps = {
  title: string;
  /** What will happen. */
  children: ReactNode;
  /** The word on the button. */
  submit: string;
  isOpen: boolean;
  onClose: () => void;
  action: () => Promise<unknown>;
  /** Called after the action, also if the page of the dialog has gone. */
  onDone: () => unknown;
  /** Called after the action on the page of the dialog. By default it closes the dialog. */
  onDoneHere?: () => void;
};

/** Asks before something that cannot be undone. It stays open while that happens. */
export function Confirm({ title, children, submit, isOpen, onClose, ...rest }: ConfirmProps) {
  const { action, onDone, onDoneHere = onClose } = rest;
  const confirmed = useMutation({ mutationFn: action, onSuccess: () => void onDone() });
  const close = () => {
    if (confirmed.isPending) return;
    confirmed.reset();
    onClose();
  };
  return (
    <Modal opened={isOpen} onClose={close} title={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          confirmed.mutate(undefined, { onSuccess: () => onDoneHere() });
        }}
      >
        <Stack>
          <Text>{children}</Text>
          {confirmed.error && <ErrorAlert error={confirmed.error} />}
          <FormButtons
            cancel="Keep"
            onCancel={close}
            submit={submit}
            color="red"
            disabled={false}
            loading={confirmed.isPending}
          />
        </Stack>
      </form>
    </Modal>
  );
}
