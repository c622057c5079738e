import { Modal, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorAlert } from './error-alert.tsx';
import { FormButtons } from './form-buttons.tsx';

type ConfirmProps = {
  title: string;
  /** The consequences of the action. */
  children: ReactNode;
  /** The word on the button. */
  submit: string;
  isOpen: boolean;
  onClose: () => void;
  action: () => Promise<unknown>;
  /** Called after the action, even if another page is shown. */
  onDone: () => unknown;
  /** Called after the action if the page of the dialog is still shown. By default it closes the dialog. */
  onDoneHere?: () => void;
};

/** A dialog that asks for confirmation of an action that cannot be undone. It stays open during the action. */
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
