import { type Schemas, unwrap } from '@framelane/client';
import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/api.ts';
import { SESSION_KEY } from '../api/query-client.ts';
import { useSession } from '../sign-in/session.ts';
import { Confirm } from '../ui/confirm.tsx';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { formatAge, formatTime } from '../ui/format.ts';
import { Loading } from '../ui/loading.tsx';
import { useNow } from '../ui/now.ts';
import { PageTitle } from '../ui/page-title.tsx';
import { Permissions } from '../ui/permissions.tsx';
import { browserWords } from './browser-words.ts';

type Entry = Schemas['ConsoleSessionEntry'];

const LIST_KEY = ['sessions'];

/** Lists the sessions in the workspace, with buttons that end them. */
export function SessionsPage() {
  const { can } = useSession();
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: LIST_KEY,
    queryFn: ({ pageParam, signal }) => {
      const query = pageParam ? { cursor: pageParam } : {};
      return unwrap(api.GET('/console/sessions', { params: { query }, signal }));
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
  const entries = data?.pages.flatMap((page) => page.data);
  return (
    <Stack>
      <div className="video-head">
        <PageTitle>Sessions</PageTitle>
        {can('api_keys:write') && <EndAll />}
      </div>
      <Text>Everybody who is signed in to this workspace in a browser.</Text>
      {error !== null && <ErrorAlert error={error} retry={() => void refetch()} />}
      {entries === undefined && error === null && <Loading rows={3} />}
      {entries !== undefined && (
        <ul className="rows">
          {entries.map((entry) => (
            <SessionRow key={entry.id} entry={entry} />
          ))}
        </ul>
      )}
      {hasNextPage && (
        <Group>
          <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            More sessions
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function SessionRow({ entry }: { entry: Entry }) {
  const { can } = useSession();
  const now = useNow();
  const { name, email, userAgent, environments, permissions, administrator, current } = entry;
  const facts = [
    environments.join(' and '),
    ...(administrator ? ['administrator'] : []),
    `last request ${formatAge(entry.lastSeenAt, now)}`,
    `signed in ${formatTime(entry.createdAt)}`,
    `expires ${formatTime(entry.idleExpiresAt)} without another request`,
  ];
  return (
    <li>
      <div className="row-words">
        <span className="row-title">{name}</span>
        {email !== null && email !== name && <span className="hint">{email}</span>}
        <span className="hint">{facts.join(' · ')}</span>
        <span className="hint">{browserWords(userAgent)}</span>
        <Permissions names={permissions} />
      </div>
      {current && <Badge variant="light">This session</Badge>}
      {can('api_keys:write') && <EndSession entry={entry} />}
    </li>
  );
}

function EndSession({ entry: { id, name, current } }: { entry: Entry }) {
  const [isOpen, setIsOpen] = useState(false);
  const refresh = useRefreshSessions();
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setIsOpen(true)} aria-label={`End ${name}`}>
        End
      </Button>
      <Confirm
        title="End session"
        submit="End session"
        isOpen={isOpen}
        onClose={() => setIsOpen(false)}
        action={() => unwrap(api.DELETE('/console/sessions/{id}', { params: { path: { id } } }))}
        onDone={refresh}
      >
        {current
          ? 'This is your own session. To open this workspace again you have to sign in again.'
          : `“${name}” has to sign in again to open this workspace. What was typed but not saved is lost.`}
      </Confirm>
    </>
  );
}

function EndAll() {
  const [isOpen, setIsOpen] = useState(false);
  const { workspace, workspaces } = useSession();
  const refresh = useRefreshSessions();
  return (
    <>
      <Button variant="default" onClick={() => setIsOpen(true)}>
        Sign out everywhere
      </Button>
      <Confirm
        title="Sign out everywhere"
        submit="End all sessions"
        isOpen={isOpen}
        onClose={() => setIsOpen(false)}
        action={() => unwrap(api.DELETE('/console/sessions'))}
        onDone={refresh}
      >
        {`All sessions in the workspace “${workspace.name}” end, including yours. Its unused sign-in links become invalid.${
          workspaces.length > 1 ? ' Other workspaces are not affected.' : ''
        } API keys stay valid.`}
      </Confirm>
    </>
  );
}

/** Reloads the list of sessions, and the session of this page, which may have ended. */
function useRefreshSessions(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    await queries.invalidateQueries({ queryKey: SESSION_KEY });
    await queries.invalidateQueries({ queryKey: LIST_KEY });
  };
}
