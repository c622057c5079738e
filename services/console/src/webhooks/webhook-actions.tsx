import type { Schemas } from '@framelane/client';
import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { api } from '../api/api.ts';
import { paths } from '../paths.ts';
import { Confirm } from '../ui/confirm.tsx';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { FormButtons } from '../ui/form-buttons.tsx';
import { formatTime } from '../ui/format.ts';
import { Secret, SecretModal } from '../ui/secret.tsx';
import { untilAttempted } from './delivery-attempts.ts';
import { WebhookForm } from './webhook-form.tsx';
import { webhookPatch } from './webhook-patch.ts';

type Webhook = Schemas['Webhook'];
type Dialog = 'edit' | 'rotate' | 'delete';

/** The buttons and dialogs of a webhook. */
export function WebhookActions({ webhook }: { webhook: Webhook }) {
  const { id, enabled } = webhook;
  const queries = useQueryClient();
  const [dialog, setDialog] = useState<Dialog>();
  const refresh = () => queries.invalidateQueries({ queryKey: ['webhooks'] });
  const test = useMutation({
    mutationFn: async () => untilAttempted(id, await api.webhooks.test(id)),
    onSettled: refresh,
  });
  const switching = useMutation({
    mutationFn: () => api.webhooks.update(id, { enabled: !enabled }),
    onSuccess: refresh,
  });
  const close = () => setDialog(undefined);
  const error = test.error ?? switching.error;
  return (
    <Stack gap="xs">
      <Group gap="xs">
        {enabled && (
          <Button size="xs" loading={test.isPending} onClick={() => test.mutate()}>
            Send test event
          </Button>
        )}
        <Button size="xs" variant="default" onClick={() => setDialog('edit')}>
          Edit
        </Button>
        <Button size="xs" variant="default" loading={switching.isPending} onClick={() => switching.mutate()}>
          {enabled ? 'Disable' : 'Enable'}
        </Button>
        <Button size="xs" variant="default" onClick={() => setDialog('rotate')}>
          Rotate secret
        </Button>
        <Button size="xs" variant="outline" color="red" onClick={() => setDialog('delete')}>
          Delete webhook
        </Button>
      </Group>
      {error !== null && <ErrorAlert error={error} />}
      <Modal opened={dialog === 'edit'} onClose={close} title="Edit webhook" closeOnClickOutside={false}>
        <EditWebhook webhook={webhook} onClose={close} />
      </Modal>
      <RotateSecret id={id} isOpen={dialog === 'rotate'} onClose={close} />
      <DeleteWebhook id={id} isOpen={dialog === 'delete'} onClose={close} />
    </Stack>
  );
}

function EditWebhook({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const queries = useQueryClient();
  // The fields begin with these values; the webhook is loaded again meanwhile.
  const [before] = useState(webhook);
  const change = useMutation({
    mutationFn: (patch: Schemas['WebhookPatch']) => api.webhooks.update(webhook.id, patch),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['webhooks'] }),
  });
  return (
    <WebhookForm
      initial={before}
      submit="Save"
      onSubmit={(values) => change.mutate(webhookPatch(before, values), { onSuccess: onClose })}
      onCancel={onClose}
      isPending={change.isPending}
      error={change.error}
    />
  );
}

type DialogProps = { id: string; isOpen: boolean; onClose: () => void };

function RotateSecret({ id, isOpen, onClose }: DialogProps) {
  const rotation = useMutation({ mutationFn: () => api.webhooks.rotateSecret(id) });
  const rotated = rotation.data;
  return (
    <SecretModal title="Rotate secret" isOpen={isOpen} onClose={onClose} request={rotation}>
      {rotated !== undefined ? (
        <Secret
          what="secret"
          label="New signing secret"
          value={rotated.secret}
          ifLost="Rotate the secret again."
          onDone={onClose}
        >
          <Text size="sm">
            Events are signed with both secrets until {formatTime(rotated.previousSecretExpiresAt)}.
          </Text>
        </Secret>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            rotation.mutate();
          }}
        >
          <Stack>
            <Text>
              Events are signed with both secrets for 24 hours, so that you can replace the secret in your
              endpoint. If the secret has leaked, rotate twice.
            </Text>
            {rotation.error && <ErrorAlert error={rotation.error} />}
            <FormButtons
              cancel="Cancel"
              onCancel={onClose}
              submit="Rotate"
              disabled={false}
              loading={rotation.isPending}
            />
          </Stack>
        </form>
      )}
    </SecretModal>
  );
}

function DeleteWebhook({ id, isOpen, onClose }: DialogProps) {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  return (
    <Confirm
      title="Delete webhook"
      submit="Delete"
      isOpen={isOpen}
      onClose={onClose}
      action={() => api.webhooks.delete(id)}
      onDone={() => queries.invalidateQueries({ queryKey: ['webhooks', 'list'] })}
      onDoneHere={() => navigate(paths.webhooks)}
    >
      Framelane sends it no more events, and deletes the list of its deliveries. This can't be undone.
    </Confirm>
  );
}
