import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Copy } from './copy.tsx';

type SecretProps = {
  /** The object that the secret belongs to, e.g. `key`. */
  what: string;
  label: string;
  /** Undefined in the replay of a response, which has no secret. */
  value: string | undefined;
  /** What to do if the secret was lost. */
  ifLost: string;
  /** The use of the secret. */
  children?: ReactNode;
  onDone: () => void;
};

/** A secret that no other response contains. */
export function Secret({ what, label, value, ifLost, children, onDone }: SecretProps) {
  if (value === undefined) {
    return (
      <Stack>
        <Alert color="red" role="alert" title="The secret was lost">
          The response with the secret did not arrive. {ifLost}
        </Alert>
        <Done onDone={onDone} />
      </Stack>
    );
  }
  return (
    <Stack>
      <Text role="status">Copy the {what} now. Framelane cannot show it again.</Text>
      <Copy label={label} value={value} />
      {children}
      <Done onDone={onDone} />
    </Stack>
  );
}

function Done({ onDone }: { onDone: () => void }) {
  return (
    <Group justify="flex-end">
      <Button onClick={onDone}>Done</Button>
    </Group>
  );
}

type SecretModalProps = {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  /** The request whose response contains the secret. */
  request: { isPending: boolean; isSuccess: boolean; reset: () => void };
  children: ReactNode;
};

/**
 * A dialog for a request that returns a secret. Once the request is sent, only "Done" closes the dialog, so that the secret is not lost.
 * Then the dialog forgets the secret.
 */
export function SecretModal({ title, isOpen, onClose, request, children }: SecretModalProps) {
  const canClose = !request.isPending && !request.isSuccess;
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      onExitTransitionEnd={request.reset}
      title={title}
      closeOnClickOutside={false}
      closeOnEscape={canClose}
      withCloseButton={canClose}
    >
      {children}
    </Modal>
  );
}
