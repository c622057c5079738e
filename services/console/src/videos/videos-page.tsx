import { Stack } from '@mantine/core';
import { useRef } from 'react';
import { useLocation, useSearch } from 'wouter';
import { paths } from '../paths.ts';
import { useSession } from '../sign-in/session.ts';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { Loading } from '../ui/loading.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { DropZone } from '../uploads/drop-zone.tsx';
import { NothingFound, NoVideos } from './empty-list.tsx';
import { Filters } from './filters.tsx';
import { isFiltered, type ListAddress, readListAddress, writeListAddress } from './list-address.ts';
import { Paging } from './paging.tsx';
import { usePlace } from './place.ts';
import { useTotal, useVideoPage } from './queries.ts';
import { VideoList } from './video-list.tsx';
import './videos-page.css';

export function VideosPage() {
  const address = readListAddress(useSearch());
  const [, navigate] = useLocation();
  const { can } = useSession();
  const { data: page, error, isPlaceholderData, refetch } = useVideoPage(address);
  const total = useTotal(address);
  const list = useRef<HTMLUListElement>(null);
  usePlace(page === undefined || isPlaceholderData ? undefined : writeListAddress(address), list);
  const change = (changed: Partial<ListAddress>) =>
    navigate(paths.videos + writeListAddress({ ...address, cursor: '', ...changed }), { replace: true });

  return (
    <Stack gap="sm">
      <div className="video-head">
        <PageTitle>Videos</PageTitle>
        {can('videos:write') && <DropZone />}
      </div>
      <Filters address={address} onChange={change} />
      {error !== null && <ErrorAlert error={error} retry={() => void refetch()} />}
      {page === undefined && error === null && <Loading />}
      {page?.data.length === 0 &&
        (isFiltered(address) || address.cursor !== '' ? <NothingFound /> : <NoVideos />)}
      {page !== undefined && page.data.length > 0 && (
        <VideoList
          ref={list}
          videos={page.data}
          total={total}
          address={address}
          isLoading={isPlaceholderData}
        />
      )}
      {page !== undefined && (
        <Paging
          address={address}
          count={page.data.length}
          nextCursor={page.nextCursor}
          total={total}
          isLoading={isPlaceholderData}
        />
      )}
    </Stack>
  );
}
