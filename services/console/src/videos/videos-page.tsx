import type { Video } from '@framelane/client';
import { Anchor, Button, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { API_URL, paths } from '../paths.ts';
import { useSession } from '../session/session.ts';
import { Copy } from '../ui/copy.tsx';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { formatAge, formatBytes, formatDuration } from '../ui/format.ts';
import { Loading } from '../ui/loading.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { DropZone } from '../uploads/drop-zone.tsx';
import { type ListAddress, readListAddress, STATUSES, writeListAddress } from './list-address.ts';
import { useVideoPage } from './queries.ts';
import { StatusBadge } from './status-badge.tsx';

/** Milliseconds without another key before a search begins. */
const TYPING_MS = 300;

export function VideosPage() {
  const address = readListAddress(useSearch());
  const [, navigate] = useLocation();
  const { can } = useSession();
  const { data: page, error, isPlaceholderData, refetch } = useVideoPage(address);
  const isFiltered = address.q !== '' || address.status !== '';
  const change = (changed: Partial<ListAddress>) =>
    navigate(paths.videos + writeListAddress({ ...address, cursor: '', ...changed }), { replace: true });

  return (
    <Stack>
      <PageTitle>Videos</PageTitle>
      {can('videos:write') && <DropZone />}
      <search className="filters">
        <SearchInput key={address.q} value={address.q} onChange={(q) => change({ q })} />
        <NativeSelect
          label="Status"
          value={address.status}
          onChange={({ currentTarget }) =>
            change({ status: readListAddress(`status=${currentTarget.value}`).status })
          }
          data={[
            { value: '', label: 'All' },
            ...STATUSES.map((value) => ({ value, label: capitalize(value) })),
          ]}
        />
      </search>
      {error !== null && <ErrorAlert error={error} retry={() => void refetch()} />}
      {page === undefined && error === null && <Loading />}
      {page !== undefined && page.data.length === 0 && (isFiltered ? <NothingFound /> : <NoVideos />)}
      {page !== undefined && page.data.length > 0 && (
        <ul className="rows" aria-busy={isPlaceholderData}>
          {page.data.map((video) => (
            <VideoRow key={video.id} video={video} />
          ))}
        </ul>
      )}
      {page !== undefined && (
        <Paging address={address} nextCursor={page.nextCursor} isLoading={isPlaceholderData} />
      )}
    </Stack>
  );
}

/** Searches while somebody types, after a short pause. */
function SearchInput({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [typed, setTyped] = useState(value);
  useEffect(() => {
    if (typed === value) return;
    const timer = setTimeout(() => onChange(typed), TYPING_MS);
    return () => clearTimeout(timer);
  });
  return (
    <TextInput
      label="Search"
      type="search"
      placeholder="Title, file name, tag"
      maxLength={512}
      value={typed}
      onChange={({ currentTarget }) => setTyped(currentTarget.value)}
    />
  );
}

function VideoRow({ video }: { video: Video }) {
  const { id, title, duration, size, createdAt, playbackPolicy, tags } = video;
  const facts = [
    ...(duration === null ? [] : [formatDuration(duration)]),
    ...(size === null ? [] : [formatBytes(size)]),
    ...(playbackPolicy === 'signed' ? ['signed'] : []),
    ...tags.map((tag) => `#${tag}`),
    formatAge(createdAt, Date.now()),
  ];
  return (
    <li>
      <Poster video={video} />
      <div className="row-words">
        <Anchor component={Link} href={paths.video(id)} className="row-title">
          {title}
        </Anchor>
        <span className="hint">{facts.join(' · ')}</span>
      </div>
      <StatusBadge video={video} />
    </li>
  );
}

/** The place of a signed video's poster stays empty (ADR 44). */
function Poster({ video: { thumbnail, playbackPolicy } }: { video: Video }) {
  if (thumbnail === null || playbackPolicy === 'signed') return <div className="poster" />;
  return (
    <img className="poster" src={thumbnail} alt="" width={96} height={54} loading="lazy" decoding="async" />
  );
}

type PagingProps = {
  address: ListAddress;
  nextCursor: string | null;
  /** Whether the list is still that of another address, to which `nextCursor` belongs. */
  isLoading: boolean;
};

function Paging({ address, nextCursor, isLoading }: PagingProps) {
  const [, navigate] = useLocation();
  // How many pages somebody went forward here, so that "Back" is the page before and not another site.
  const depth: number = history.state?.depth ?? 0;
  if (nextCursor === null && address.cursor === '') return null;
  const to = (cursor: string) => paths.videos + writeListAddress({ ...address, cursor });
  const back = () => (depth > 0 ? history.back() : navigate(to('')));
  return (
    <nav className="paging" aria-label="Pages of the list">
      {address.cursor !== '' && (
        <Button variant="default" onClick={back}>
          {depth > 0 ? 'Previous' : 'First page'}
        </Button>
      )}
      {nextCursor !== null && (
        <Button
          variant="default"
          disabled={isLoading}
          onClick={() => navigate(to(nextCursor), { state: { depth: depth + 1 } })}
        >
          Next
        </Button>
      )}
    </nav>
  );
}

function NothingFound() {
  return (
    <div className="empty">
      <Text>No video matches. </Text>
      <Anchor component={Link} href={paths.videos}>
        Show all videos
      </Anchor>
    </div>
  );
}

/** What to do first, with the real ids. */
function NoVideos() {
  const { workspace, can } = useSession();
  const command = [
    `curl -X POST ${API_URL}/videos/upload-ticket`,
    `  -H "Authorization: Bearer $KEY" -H 'X-Svc-Workspace: ${workspace.id}'`,
    `  -H 'Content-Type: application/json' -d '{"filename":"holiday.mp4"}'`,
  ].join(' \\\n');
  return (
    <div className="empty">
      <Text fw={600}>This workspace has no videos yet.</Text>
      <Text>
        {can('videos:write')
          ? 'Drop a file here. Framelane transcodes it, and you can watch it as soon as it is ready.'
          : 'Somebody with the permission videos:write can upload one.'}
      </Text>
      <Text>A program creates a ticket, with an API key in KEY, and sends the file to its uploadUrl:</Text>
      <Copy label="Ticket for an upload" value={command} />
    </div>
  );
}

function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
