import { Suspense } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { pagesFor } from './navigation.ts';
import { paths } from './paths.ts';
import { useSession } from './sign-in/session.ts';
import { lazyPage } from './ui/lazy-page.ts';
import { LoadFailure } from './ui/load-failure.tsx';
import { Loading } from './ui/loading.tsx';
import { NoPages } from './ui/no-pages.tsx';
import { NotFound } from './ui/not-found.tsx';

const HomePage = lazyPage(async () => (await import('./home/home-page.tsx')).HomePage, LoadFailure);
const VideosPage = lazyPage(async () => (await import('./videos/videos-page.tsx')).VideosPage, LoadFailure);
const VideoPage = lazyPage(async () => (await import('./videos/video-page.tsx')).VideoPage, LoadFailure);
const AnalyticsPage = lazyPage(
  async () => (await import('./analytics/analytics-page.tsx')).AnalyticsPage,
  LoadFailure,
);
const WebhooksPage = lazyPage(
  async () => (await import('./webhooks/webhooks-page.tsx')).WebhooksPage,
  LoadFailure,
);
const WebhookPage = lazyPage(
  async () => (await import('./webhooks/webhook-page.tsx')).WebhookPage,
  LoadFailure,
);
const UsagePage = lazyPage(async () => (await import('./usage/usage-page.tsx')).UsagePage, LoadFailure);
const KeysPage = lazyPage(async () => (await import('./keys/keys-page.tsx')).KeysPage, LoadFailure);
const SessionsPage = lazyPage(
  async () => (await import('./sessions/sessions-page.tsx')).SessionsPage,
  LoadFailure,
);
const RequestsPage = lazyPage(
  async () => (await import('./requests/requests-page.tsx')).RequestsPage,
  LoadFailure,
);
const RequestPage = lazyPage(
  async () => (await import('./requests/request-page.tsx')).RequestPage,
  LoadFailure,
);
const AuditPage = lazyPage(async () => (await import('./audit/audit-page.tsx')).AuditPage, LoadFailure);
const SystemPage = lazyPage(async () => (await import('./system/system-page.tsx')).SystemPage, LoadFailure);

export function Routes() {
  return (
    <Suspense fallback={<Loading />}>
      <Switch>
        <Route path={paths.home}>
          <FirstPage />
        </Route>
        <Route path={paths.videos} component={VideosPage} />
        <Route<{ id: string }> path={paths.video(':id')}>{({ id }) => <VideoPage key={id} id={id} />}</Route>
        <Route path={paths.analytics} component={AnalyticsPage} />
        <Route path={paths.webhooks} component={WebhooksPage} />
        <Route<{ id: string }> path={paths.webhook(':id')}>
          {({ id }) => <WebhookPage key={id} id={id} />}
        </Route>
        <Route path={paths.keys} component={KeysPage} />
        <Route path={paths.usage} component={UsagePage} />
        <Route path={paths.sessions} component={SessionsPage} />
        <Route path={paths.requests} component={RequestsPage} />
        <Route<{ id: string }> path={paths.request(':id')}>
          {({ id }) => <RequestPage key={id} id={id} />}
        </Route>
        <Route path={paths.audit} component={AuditPage} />
        <Route path={paths.system} component={SystemPage} />
        <Route>
          <NotFound what="page" />
        </Route>
      </Switch>
    </Suspense>
  );
}

/** The home page, or the first page that a session without it can open. */
function FirstPage() {
  const [first] = pagesFor(useSession());
  if (first === undefined) return <NoPages />;
  return first.path === paths.home ? <HomePage /> : <Redirect to={first.path} replace />;
}
