import type { Schemas } from '@framelane/client';
import { Alert, Button, Checkbox, Group, Modal, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/api.ts';
import { API_URL } from '../paths.ts';
import { type Permission, useSession } from '../session/session.ts';
import { Copy } from '../ui/copy.tsx';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { FormButtons } from '../ui/form-buttons.tsx';
import { EXPIRIES, expiresAt } from './expiry.ts';

export function CreateKey() {
  const [isOpen, setIsOpen] = useState(false);
  // A key that was just created can be seen only here, so a click beside the dialog does not close it.
  return (
    <>
      <Button onClick={() => setIsOpen(true)}>Create key</Button>
      <Modal opened={isOpen} onClose={() => setIsOpen(false)} title="Create key" closeOnClickOutside={false}>
        <KeyForm onDone={() => setIsOpen(false)} />
      </Modal>
    </>
  );
}

function KeyForm({ onDone }: { onDone: () => void }) {
  const { permissions: own } = useSession();
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [days, setDays] = useState('');
  const [permissions, setPermissions] = useState<string[]>(() =>
    own.filter((each) => each.startsWith('videos:')),
  );
  const creation = useMutation({
    mutationFn: (body: Schemas['ApiKeyRequest']) => api.apiKeys.create(body),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['keys'] }),
  });
  if (creation.data !== undefined) return <Secret created={creation.data} onDone={onDone} />;

  const chosen = own.filter((each): each is Permission => permissions.includes(each));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        creation.mutate({ name, permissions: chosen, expiresAt: expiresAt(days, Date.now()) });
      }}
    >
      <Stack>
        <TextInput
          label="Name"
          description="What the key is for"
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          maxLength={100}
          required
          data-autofocus
        />
        <Checkbox.Group label="Permissions" value={permissions} onChange={setPermissions}>
          <Stack gap="xs" mt="xs">
            {own.map((permission) => (
              <Checkbox key={permission} value={permission} label={permission} />
            ))}
          </Stack>
        </Checkbox.Group>
        <NativeSelect
          label="Expires"
          value={days}
          onChange={({ currentTarget }) => setDays(currentTarget.value)}
          data={EXPIRIES}
        />
        {creation.error && <ErrorAlert error={creation.error} />}
        <FormButtons
          cancel="Cancel"
          onCancel={onDone}
          submit="Create"
          disabled={name.trim() === '' || chosen.length === 0}
          loading={creation.isPending}
        />
      </Stack>
    </form>
  );
}

/** The secret, which no other response contains. */
function Secret({ created, onDone }: { created: Schemas['CreatedApiKey']; onDone: () => void }) {
  const { workspace } = useSession();
  if (created.secret === undefined) {
    return (
      <Alert color="red" role="alert" title="The secret was lost">
        The response with the secret did not arrive. Revoke the key “{created.name}” and create another one.
      </Alert>
    );
  }
  return (
    <Stack>
      <Text role="status">Copy the key now. Framelane does not store it and cannot show it again.</Text>
      <Copy label={`Key “${created.name}”`} value={created.secret} />
      <Copy
        label="Try it, with the key in KEY"
        value={`curl ${API_URL}/auth/whoami \\\n  -H "Authorization: Bearer $KEY" -H 'X-Svc-Workspace: ${workspace.id}'`}
      />
      <Group justify="flex-end">
        <Button onClick={onDone}>Done</Button>
      </Group>
    </Stack>
  );
}
