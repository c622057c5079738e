import { AnalyticsService } from './analytics/analytics.service.ts';
import { BeaconsService } from './analytics/beacons.service.ts';
import { RollUpService } from './analytics/roll-up.service.ts';
import { SegmentRequests } from './analytics/segment-requests.ts';
import { ViewMeter } from './analytics/view-meter.ts';
import { Visitors } from './analytics/visitors.ts';
import { ApiKeysService } from './api-keys/api-keys.service.ts';
import { AttemptsService } from './attempts/attempts.service.ts';
import { AuditService } from './audit/audit.service.ts';
import { AutoCaptionsService } from './auto-captions/auto-captions.service.ts';
import { withdrawCaptions } from './auto-captions/withdraw-captions.ts';
import { findLastBackup } from './backups/backup-state.store.ts';
import { CaptionsService } from './captions/captions.service.ts';
import { ChaptersService } from './chapters/chapters.service.ts';
import { ClipsService } from './clips/clips.service.ts';
import type { ControlPlaneConfig } from './config.ts';
import { ConsolePeopleService } from './console-people/console-people.service.ts';
import { ConsoleSessionsService } from './console-sessions/console-sessions.service.ts';
import { DownloadsService } from './downloads/downloads.service.ts';
import { EmbedService } from './embed/embed.service.ts';
import { EnginesService } from './engines/engines.service.ts';
import { IdempotencyService } from './idempotency/idempotency.service.ts';
import { ImportsService } from './imports/imports.service.ts';
import type { Infrastructure } from './infrastructure.ts';
import { OpenIdProvider } from './openid/openid-provider.ts';
import { OpenIdSignInService } from './openid/openid-sign-in.service.ts';
import { PicturesService } from './pictures/pictures.service.ts';
import { CaptionsPlaybackService } from './playback/captions-playback.service.ts';
import { ChaptersPlaybackService } from './playback/chapters-playback.service.ts';
import { PlaybackService } from './playback/playback.service.ts';
import { PlaybackAccessService } from './playback/playback-access.service.ts';
import { PreviewsService } from './playback/previews.service.ts';
import { pickPoster } from './posters/picked-poster.ts';
import { PostersService } from './posters/posters.service.ts';
import { QuotasService } from './quotas/quotas.service.ts';
import { RequestLogService } from './request-log/request-log.service.ts';
import { RequestRecorder } from './request-log/request-recorder.ts';
import { ResealingService } from './sealed-values/resealing.service.ts';
import { StoredFiles } from './stored-files/stored-files.ts';
import { StoredReads } from './stored-files/stored-reads.ts';
import { SystemService } from './system/system.service.ts';
import { TasksService } from './tasks/tasks.service.ts';
import { ResumableUploadsService } from './upload-tickets/resumable-uploads.service.ts';
import { UploadTicketsService } from './upload-tickets/upload-tickets.service.ts';
import { BandwidthMeter } from './usage/bandwidth-meter.ts';
import { UsageService } from './usage/usage.service.ts';
import { SourcesService } from './videos/sources.service.ts';
import { VideoLifecycle } from './videos/video-lifecycle.ts';
import { VideosService } from './videos/videos.service.ts';
import { WatermarksService } from './watermarks/watermarks.service.ts';
import { WebhookEndpointsService } from './webhooks/endpoints.service.ts';
import { EventListService } from './webhooks/event-list.service.ts';
import { WebhookEventsService } from './webhooks/events.service.ts';
import type { WorkAfterCommit } from './work-after-commit.ts';

const MIB = 1024 ** 2;

/** The services of all domains, except those of the work after commits. */
export type Services = ReturnType<typeof createServices>;

/** Builds the services. They wake the loops of `workAfterCommit`. */
export function createServices(
  config: ControlPlaneConfig,
  infrastructure: Infrastructure,
  workAfterCommit: WorkAfterCommit,
) {
  const { bus, objects, db, clock, logger, metrics, checks, guard, contentKeys, webhookKeys, importKeys } =
    infrastructure;
  const { webhookDeliveries, onDelivery } = workAfterCommit;
  const videos = videoServices(config, infrastructure, workAfterCommit);
  const uploads = uploadServices(config, infrastructure, videos);
  const playback = playbackServices(config, infrastructure, {
    ...videos,
    pictureWaits: workAfterCommit.pictureWaits,
  });
  const transcoding = transcodingServices(config, infrastructure, { ...videos, ...playback });
  const { engines, attempts } = transcoding;
  const { imports } = uploads;
  return {
    ...videos,
    ...uploads,
    ...playback,
    ...transcoding,
    ...accessServices(config, infrastructure),
    ...analyticsServices(config, infrastructure, videos),
    webhooks: new WebhookEndpointsService({ db, clock, guard, sealingKeys: webhookKeys, onDelivery }),
    eventList: new EventListService(db),
    audit: new AuditService(db),
    requestLog: new RequestLogService(db),
    requestRecorder: config.requestLog ? new RequestRecorder({ clock, db, logger, metrics }) : undefined,
    idempotency: new IdempotencyService({ db, logger }),
    resealing: new ResealingService({ db, logger, contentKeys, webhookKeys, importKeys }),
    system: new SystemService({
      db,
      bus,
      objects,
      checks,
      engines,
      attempts,
      imports,
      webhookDeliveries,
      lastBackup: () => findLastBackup(db),
      logger,
    }),
  };
}

function videoServices(
  config: ControlPlaneConfig,
  { objects, db, clock, logger, addresses: { baseUrl } }: Infrastructure,
  { onCommit }: WorkAfterCommit,
) {
  const { sourceRetentionDays, packaging, codecs, hdr, hasRecognizer } = config;
  const events = new WebhookEventsService(clock, config.webhooks);
  const lifecycle = new VideoLifecycle({ db, logger, events, baseUrl, onCommit });
  const quotas = new QuotasService({ db });
  const videos = new VideosService({
    db,
    objects,
    lifecycle,
    quotas,
    pickPoster: (...frame) => pickPoster(...frame, { lifecycle }),
    baseUrl,
    sourceRetentionDays,
    packaging,
    codecs,
    hdr,
    hasRecognizer,
  });
  const watermarks = new WatermarksService({ db, quotas });
  return {
    events,
    lifecycle,
    quotas,
    videos,
    watermarks,
    posters: new PostersService({ lifecycle, videos, quotas }),
  };
}

type VideoServices = ReturnType<typeof videoServices>;

function uploadServices(
  config: ControlPlaneConfig,
  { db, logger, metrics, leaseGrace, importKeys }: Infrastructure,
  { lifecycle, quotas, videos }: VideoServices,
) {
  const common = { db, videos, lifecycle, logger, metrics, leaseGrace };
  const limits = config.uploads;
  const workspaceLimits = config.workspaceUploads;
  const tickets = new UploadTicketsService({
    ...common,
    quotas,
    limits,
    workspaceLimits,
    testVideoHours: config.testVideoHours,
  });
  const imports = new ImportsService({
    ...common,
    tickets,
    sealingKeys: importKeys,
    limits: { timeoutSeconds: config.imports.timeoutSeconds, leaseSeconds: limits.leaseSeconds },
  });
  const filesUrl = `${config.enginePublicUrl}/files`;
  const resumableUploads = new ResumableUploadsService({
    db,
    lifecycle,
    quotas,
    limits,
    workspaceLimits,
    filesUrl,
  });
  return { tickets, imports, resumableUploads };
}

function playbackServices(
  config: ControlPlaneConfig,
  { objects, db, clock, logger, metrics, contentKeys, addresses: { baseUrl } }: Infrastructure,
  { lifecycle, quotas, videos, pictureWaits }: VideoServices & Pick<WorkAfterCommit, 'pictureWaits'>,
) {
  const settings = config.playback;
  const reads = new StoredReads({ objects, metrics, cacheBytes: config.segmentCacheMib * MIB });
  const previews = new PreviewsService({ db, objects, logger, metrics });
  const files = new StoredFiles({ reads, objects, redirects: settings.mode === 'redirect' });
  const { cdnUrl } = settings;
  const playback = new PlaybackService({ db, files, previews, contentKeys, cdnUrl });
  const captions = new CaptionsService({
    db,
    lifecycle,
    playback,
    quotas,
    withdraw: withdrawCaptions,
    logger,
  });
  const chapters = new ChaptersService({ db, lifecycle, playback });
  const access = new PlaybackAccessService({ db, clock, videos, contentKeys, baseUrl });
  return {
    previews,
    playback,
    playbackAccess: access,
    captions,
    captionsPlayback: new CaptionsPlaybackService(db),
    chapters,
    chaptersPlayback: new ChaptersPlaybackService(db),
    sources: new SourcesService({ db, files, lifecycle }),
    pictures: new PicturesService({
      db,
      files,
      lifecycle,
      quotas,
      waits: pictureWaits,
      limits: config.pictures,
      logger,
    }),
    downloads: new DownloadsService({ db, files, lifecycle, videos, quotas }),
    clips: new ClipsService({
      db,
      lifecycle,
      videos,
      captions,
      chapters,
      quotas,
      testVideoHours: config.testVideoHours,
    }),
    autoCaptions: new AutoCaptionsService({ lifecycle, videos, quotas, hasRecognizer: config.hasRecognizer }),
    embed: new EmbedService({ videos, access, playback, baseUrl, frameOrigins: config.embedOrigins }),
  };
}

function transcodingServices(
  config: ControlPlaneConfig,
  { db, logger, metrics, leaseGrace, contentKeys }: Infrastructure,
  services: VideoServices & ReturnType<typeof playbackServices>,
) {
  const { events, lifecycle, quotas, playback, previews, captions, chapters } = services;
  const common = { db, lifecycle, logger, metrics };
  const usage = new UsageService({ db, quotas });
  const attempts = new AttemptsService({ ...common, playback, captions, chapters, usage, contentKeys });
  const tasks = new TasksService({
    ...common,
    attempts,
    previews,
    captions,
    playback,
    usage,
    events,
    leaseGrace,
    settings: config.attempts,
  });
  const bandwidth = new BandwidthMeter({ db, logger, metrics, flushSeconds: config.usageFlushSeconds });
  return { usage, bandwidth, attempts, tasks, engines: new EnginesService({ db }) };
}

function analyticsServices(
  { analytics, usageFlushSeconds }: ControlPlaneConfig,
  { db, logger, metrics }: Infrastructure,
  { videos }: VideoServices,
) {
  const { retentionDays, beaconsPerMinute } = analytics;
  const viewMeter = new ViewMeter({ db, logger, metrics, flushSeconds: usageFlushSeconds });
  const counted = { meter: viewMeter, visitors: new Visitors(db) };
  return {
    viewMeter,
    beacons: new BeaconsService({ ...counted, perMinute: beaconsPerMinute }),
    segmentRequests: new SegmentRequests({ ...counted, metrics, settings: analytics }),
    viewRollUp: new RollUpService({ db, retentionDays }),
    analytics: new AnalyticsService({ db, videos, enabled: analytics.enabled }),
  };
}

/** The services that decide who may use the API and the console. */
function accessServices(
  { publicUrl, openId }: ControlPlaneConfig,
  { db, clock, logger, contentKeys }: Infrastructure,
) {
  const consoleSessions = new ConsoleSessionsService({ db, logger, publicUrl });
  const openIdSignIn =
    openId &&
    new OpenIdSignInService({
      clock,
      provider: new OpenIdProvider(openId, `${publicUrl}/console/sign-in/callback`),
      sealingKeys: contentKeys.derive('console sign-ins'),
      people: new ConsolePeopleService({ db }),
      sessions: consoleSessions,
    });
  return { keys: new ApiKeysService({ db, logger }), consoleSessions, openIdSignIn };
}
