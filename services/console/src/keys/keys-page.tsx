import { type Schemas, unwrap } from '@framelane/client';
import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/api.ts';
import { API_URL } from '../paths.ts';
import { useSession } from '../sign-in/session.ts';
import { Confirm } from '../ui/confirm.tsx';
import { Copy } from '../ui/copy.tsx';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { formatAge, formatTime } from '../ui/format.ts';
import { Loading } from '../ui/loading.tsx';
import { useNow } from '../ui/now.ts';
import { PageTitle } from '../ui/page-title.tsx';
import { Permissions } from '../ui/permissions.tsx';
import { CreateKey } from './create-key.tsx';

type ApiKey = Schemas['ApiKey'];

function useKeys() {
  return useInfiniteQuery({
    queryKey: ['keys'],
    queryFn: ({ pageParam, signal }) =>
      unwrap(api.GET('/api-keys', { params: { query: pageParam ? { cursor: pageParam } : {} }, signal })),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
}

export function KeysPage() {
  const { can } = useSession();
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useKeys();
  const keys = data?.pages.flatMap((page) => page.data);
  return (
    <Stack>
      <div className="video-head">
        <PageTitle>Keys</PageTitle>
        {can('api_keys:write') && <CreateKey />}
      </div>
      {error !== null && <ErrorAlert error={error} retry={() => void refetch()} />}
      {keys === undefined && error === null && <Loading rows={3} />}
      {keys?.length === 0 && <NoKeys />}
      {keys !== undefined && keys.length > 0 && (
        <ul className="rows">
          {keys.map((key) => (
            <KeyRow key={key.id} apiKey={key} />
          ))}
        </ul>
      )}
      {hasNextPage && (
        <Group>
          <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            More keys
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function NoKeys() {
  const { workspace } = useSession();
  return (
    <div className="empty">
      <Text fw={600}>This workspace has no keys.</Text>
      <Text>
        A program uses a key to upload and manage videos. Give each program one of its own, with only the
        permissions it needs.
      </Text>
      <Copy
        label="Check the key in the shell variable KEY"
        value={`curl ${API_URL}/auth/whoami \\\n  -H "Authorization: Bearer $KEY" -H 'X-Svc-Workspace: ${workspace.id}'`}
      />
    </div>
  );
}

const STATUS_COLOURS = { active: 'teal', revoked: 'gray', expired: 'gray' } as const;

function KeyRow({ apiKey }: { apiKey: ApiKey }) {
  const { can } = useSession();
  const now = useNow();
  const { name, prefix, last4, environment, permissions, status, lastUsedAt, expiresAt } = apiKey;
  const facts = [
    `${prefix}…${last4}`,
    environment,
    lastUsedAt === null ? 'never used' : `used ${formatAge(lastUsedAt, now)}`,
    expiresAt === null ? 'does not expire' : `expires ${formatTime(expiresAt)}`,
  ];
  return (
    <li>
      <div className="row-words">
        <span className="row-title">{name}</span>
        <span className="hint">{facts.join(' · ')}</span>
        <Permissions names={permissions} />
      </div>
      <Badge variant="light" color={STATUS_COLOURS[status]}>
        {status}
      </Badge>
      {status === 'active' && can('api_keys:write') && <RevokeKey apiKey={apiKey} />}
    </li>
  );
}

function RevokeKey({ apiKey: { id, name } }: { apiKey: ApiKey }) {
  const [isOpen, setIsOpen] = useState(false);
  const queries = useQueryClient();
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setIsOpen(true)} aria-label={`Revoke ${name}`}>
        Revoke
      </Button>
      <Confirm
        title="Revoke key"
        submit="Revoke key"
        isOpen={isOpen}
        onClose={() => setIsOpen(false)}
        action={() => api.apiKeys.revoke(id)}
        onDone={() => queries.invalidateQueries({ queryKey: ['keys'] })}
      >
        Requests with the key <strong>{name}</strong> fail at once. A revoked key cannot be used again.
      </Confirm>
    </>
  );
}
