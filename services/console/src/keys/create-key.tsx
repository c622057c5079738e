import type { Schemas } from '@framelane/client';
import { Button, type ButtonProps, Checkbox, Group, NativeSelect, Stack, TextInput } from '@mantine/core';
import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/api.ts';
import { fieldMessage } from '../api/problem.ts';
import { API_URL } from '../paths.ts';
import { type Permission as PermissionName, useSession } from '../sign-in/session.ts';
import { Copy } from '../ui/copy.tsx';
import { useCreateDialog } from '../ui/create-dialog.ts';
import { FormButtons } from '../ui/form-buttons.tsx';
import { FormError } from '../ui/form-error.tsx';
import { Permission } from '../ui/permissions.tsx';
import { Secret, SecretModal } from '../ui/secret.tsx';
import { EXPIRIES, expiresAt } from './expiry.ts';
import { permissionPresets } from './permission-presets.ts';

export function CreateKey(button: Pick<ButtonProps, 'variant' | 'size'>) {
  const [isOpen, setIsOpen] = useCreateDialog();
  const queries = useQueryClient();
  const creation = useMutation({
    mutationFn: (body: Schemas['ApiKeyRequest']) => api.apiKeys.create(body),
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['keys'] }),
  });
  const close = () => setIsOpen(false);
  return (
    <>
      <Button {...button} onClick={() => setIsOpen(true)}>
        Create key
      </Button>
      <SecretModal title="Create key" isOpen={isOpen} onClose={close} request={creation}>
        {creation.data === undefined ? (
          <KeyForm creation={creation} onCancel={close} />
        ) : (
          <CreatedKey created={creation.data} onDone={close} />
        )}
      </SecretModal>
    </>
  );
}

type KeyFormProps = {
  creation: UseMutationResult<Schemas['CreatedApiKey'], Error, Schemas['ApiKeyRequest']>;
  onCancel: () => void;
};

function KeyForm({ creation, onCancel }: KeyFormProps) {
  const { permissions: own, workspace, workspaces, environment: current } = useSession();
  const environments = workspaces.find(({ id }) => id === workspace.id)?.environments ?? [current];
  const [name, setName] = useState('');
  const [environment, setEnvironment] = useState(current);
  const [days, setDays] = useState('');
  const [permissions, setPermissions] = useState<string[]>(() =>
    own.filter((each) => each.startsWith('videos:')),
  );
  const chosen = own.filter((each): each is PermissionName => permissions.includes(each));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        creation.mutate({
          name: name.trim(),
          environment,
          permissions: chosen,
          expiresAt: expiresAt(days, Date.now()),
        });
      }}
    >
      <Stack>
        <TextInput
          label="Name"
          description="What the key is for"
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          error={fieldMessage(creation.error, 'name')}
          maxLength={100}
          required
          data-autofocus
        />
        {environments.length > 1 && (
          <NativeSelect
            label="Environment of the key"
            description="Marks the videos that the key creates, and their usage"
            value={environment}
            onChange={({ currentTarget }) =>
              setEnvironment(environments.find((each) => each === currentTarget.value) ?? current)
            }
            data={[...environments]}
          />
        )}
        <Checkbox.Group label="Permissions" value={permissions} onChange={setPermissions}>
          <Group gap="xs" mt="xs">
            {permissionPresets(own).map((preset) => (
              <Button
                key={preset.name}
                size="xs"
                variant="default"
                onClick={() => setPermissions(preset.permissions)}
              >
                {preset.name}
              </Button>
            ))}
          </Group>
          <Stack gap="xs" mt="xs">
            {own.map((permission) => (
              <Checkbox key={permission} value={permission} label={<Permission name={permission} />} />
            ))}
          </Stack>
        </Checkbox.Group>
        <NativeSelect
          label="Expires"
          value={days}
          onChange={({ currentTarget }) => setDays(currentTarget.value)}
          data={EXPIRIES}
        />
        <FormError error={creation.error} fields={['name']} />
        <FormButtons
          cancel="Cancel"
          onCancel={onCancel}
          submit="Create"
          disabled={name.trim() === '' || chosen.length === 0}
          loading={creation.isPending}
        />
      </Stack>
    </form>
  );
}

function CreatedKey({ created, onDone }: { created: Schemas['CreatedApiKey']; onDone: () => void }) {
  const { workspace } = useSession();
  return (
    <Secret
      what="key"
      label={`Key “${created.name}”`}
      value={created.secret}
      ifLost={`Revoke the key “${created.name}” and create another one.`}
      onDone={onDone}
    >
      <Copy
        label="Try it"
        value={`KEY=${created.secret}\ncurl ${API_URL}/auth/whoami \\\n  -H "Authorization: Bearer $KEY" -H 'X-Svc-Workspace: ${workspace.id}'`}
      />
    </Secret>
  );
}
