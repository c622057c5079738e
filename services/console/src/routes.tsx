import { lazy, Suspense } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { pagesFor } from './navigation.ts';
import { paths } from './paths.ts';
import { useSession } from './sign-in/session.ts';
import { Loading } from './ui/loading.tsx';
import { NoPages } from './ui/no-pages.tsx';
import { NotFound } from './ui/not-found.tsx';

/** Each page is loaded when it is opened. */
const VideosPage = lazy(async () => ({ default: (await import('./videos/videos-page.tsx')).VideosPage }));
const VideoPage = lazy(async () => ({ default: (await import('./videos/video-page.tsx')).VideoPage }));
const WebhooksPage = lazy(async () => ({
  default: (await import('./webhooks/webhooks-page.tsx')).WebhooksPage,
}));
const WebhookPage = lazy(async () => ({
  default: (await import('./webhooks/webhook-page.tsx')).WebhookPage,
}));
const UsagePage = lazy(async () => ({ default: (await import('./usage/usage-page.tsx')).UsagePage }));
const KeysPage = lazy(async () => ({ default: (await import('./keys/keys-page.tsx')).KeysPage }));
const SessionsPage = lazy(async () => ({
  default: (await import('./sessions/sessions-page.tsx')).SessionsPage,
}));
const SystemPage = lazy(async () => ({ default: (await import('./system/system-page.tsx')).SystemPage }));

export function Routes() {
  return (
    <Suspense fallback={<Loading />}>
      <Switch>
        <Route path="/">
          <FirstPage />
        </Route>
        <Route path={paths.videos} component={VideosPage} />
        <Route<{ id: string }> path={paths.video(':id')}>{({ id }) => <VideoPage key={id} id={id} />}</Route>
        <Route path={paths.webhooks} component={WebhooksPage} />
        <Route<{ id: string }> path={paths.webhook(':id')}>
          {({ id }) => <WebhookPage key={id} id={id} />}
        </Route>
        <Route path={paths.keys} component={KeysPage} />
        <Route path={paths.usage} component={UsagePage} />
        <Route path={paths.sessions} component={SessionsPage} />
        <Route path={paths.system} component={SystemPage} />
        <Route>
          <NotFound what="page" />
        </Route>
      </Switch>
    </Suspense>
  );
}

/** Opens the first page that the session can open. */
function FirstPage() {
  const [first] = pagesFor(useSession());
  return first === undefined ? <NoPages /> : <Redirect to={first.path} replace />;
}
