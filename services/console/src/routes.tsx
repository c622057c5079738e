import { lazy, Suspense } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { paths } from './paths.ts';
import { Loading } from './ui/loading.tsx';
import { NotFound } from './ui/not-found.tsx';

/** Each page is loaded when it is opened. */
const VideosPage = lazy(async () => ({ default: (await import('./videos/videos-page.tsx')).VideosPage }));
const VideoPage = lazy(async () => ({ default: (await import('./videos/video-page.tsx')).VideoPage }));
const KeysPage = lazy(async () => ({ default: (await import('./keys/keys-page.tsx')).KeysPage }));

export function Routes() {
  return (
    <Suspense fallback={<Loading />}>
      <Switch>
        <Route path="/">
          <Redirect to={paths.videos} replace />
        </Route>
        <Route path={paths.videos} component={VideosPage} />
        <Route<{ id: string }> path={paths.video(':id')}>{({ id }) => <VideoPage key={id} id={id} />}</Route>
        <Route path={paths.keys} component={KeysPage} />
        <Route>
          <NotFound what="page" />
        </Route>
      </Switch>
    </Suspense>
  );
}
