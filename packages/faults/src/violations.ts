import type { Snapshot } from './snapshot.ts';

/** What a test knows to be there because it put it there itself. */
export type Expected = {
  /** Dead letters by queue. */
  deadLetters?: Record<string, number>;
  /** Whether the fault explains answers 5xx, which a client that repeats its calls does not mind. */
  serverErrors?: boolean;
};

/**
 * Every way in which a cluster at rest is not as it should be, in words; empty when nothing was lost, left behind or
 * done twice. The numbers are those of the invariants in docs/reliability.md.
 */
export function violations(state: Snapshot, expected: Expected = {}): string[] {
  return [
    ...unfinishedWork(state),
    ...wrongObjects(state),
    ...keptKeys(state),
    ...wrongEvents(state),
    ...wrongQueues(state, expected),
    ...leftBehind(state),
    ...wrongUsage(state),
    ...unexplained(state, expected),
  ];
}

/** 1: nothing is under way for ever. */
function unfinishedWork({ videos, jobs }: Snapshot): string[] {
  const stuck = videos
    .filter(({ deleted }) => !deleted)
    .flatMap((video) => {
      const { id, status, ticketExpired, transferOpen } = video;
      return [
        ...(status === 'processing' ? [`1: ${id} is still processing`] : []),
        ...(status === 'uploading' && ticketExpired ? [`1: ${id} is uploading past its ticket`] : []),
        ...(status === 'uploading' && transferOpen ? [`1: the ticket of ${id} is still leased`] : []),
      ];
    });
  const open = videos
    .filter(({ attemptsOpen }) => attemptsOpen > 0)
    .map(({ id, attemptsOpen }) => `1: ${id} has ${attemptsOpen} open attempts`);
  return [
    ...stuck,
    ...open,
    ...jobs.filter((job) => job !== 'object-purge').map((job) => `1: a ${job} is left`),
  ];
}

/** 2, 3, 4: in storage is what the database knows, of one attempt, and nothing else. */
function wrongObjects({ videos, objects, unfinishedUploads }: Snapshot): string[] {
  const known = new Map(videos.map((video) => [video.id, video]));
  const strays = [...objects.keys()].filter((key) => {
    const [kind, workspaceId, videoId = '', ...rest] = key.split('/');
    const video = known.get(videoId);
    if (video === undefined || video.deleted || video.workspaceId !== workspaceId) return true;
    if (kind === 'sources') return !video.uploaded;
    const [attempt, ...name] = rest;
    if (video.status !== 'ready' || attempt !== `a${video.attempt}`) return true;
    return name.length === 2 && !video.segments.includes(name.join('/'));
  });
  const missing = videos
    .filter(({ status, deleted }) => status === 'ready' && !deleted)
    .flatMap(({ id, workspaceId, attempt, segments }) =>
      segments.map((segment) => `hls/${workspaceId}/${id}/a${attempt}/${segment}`),
    )
    .filter((key) => !objects.has(key));
  const sources = videos.filter(({ uploaded, deleted }) => uploaded && !deleted);
  const sourceless = sources.filter(
    ({ id, workspaceId }) =>
      [...objects.keys()].filter((key) => key.startsWith(`sources/${workspaceId}/${id}/`)).length !== 1,
  );
  return [
    ...strays.map((key) => `4: nobody knows of ${key}`),
    ...missing.map((key) => `2: ${key} is missing`),
    ...sourceless.map(({ id }) => `4: ${id} has not one source`),
    ...unfinishedUploads.map((key) => `4: an upload of ${key} was never ended`),
  ];
}

/** 3: who cannot be played has no key. */
function keptKeys({ videos }: Snapshot): string[] {
  return videos
    .filter(({ hasKey, deleted, status }) => hasKey && (deleted || status === 'failed'))
    .map(({ id }) => `3: ${id} still has its key`);
}

/** 5: one event for each end of a video, delivered, and none for what did not happen. */
function wrongEvents(state: Snapshot): string[] {
  const { videos, events, delivered, reusedEventIds, deliveriesOpen } = state;
  const count = (type: string, videoId: string) =>
    events.filter((event) => event.type === type && event.videoId === videoId).length;
  const wrong = videos.flatMap(({ id, status, deleted }) => [
    ...atMostOnce(`video.ready of ${id}`, count('video.ready', id)),
    ...atMostOnce(`video.failed of ${id}`, count('video.failed', id)),
    ...(deleted && count('video.deleted', id) !== 1 ? [`5: ${id} has no one event of its deletion`] : []),
    ...(!deleted && status === 'ready' && count('video.ready', id) !== 1 ? [`5: nobody heard of ${id}`] : []),
    ...(!deleted && status === 'failed' && count('video.failed', id) !== 1
      ? [`5: nobody heard of the failure of ${id}`]
      : []),
  ]);
  const got = new Set(delivered.map(({ id }) => id));
  const written = new Set(events.map(({ id }) => id));
  return [
    ...wrong,
    ...(deliveriesOpen > 0 ? [`5: ${deliveriesOpen} deliveries are still to come`] : []),
    ...events.filter(({ id }) => !got.has(id)).map(({ id, type }) => `5: ${type} ${id} was not received`),
    ...delivered.filter(({ id }) => !written.has(id)).map(({ id }) => `5: ${id} was made up`),
    ...reusedEventIds.map((id) => `5: ${id} came again as something else`),
  ];
}

function atMostOnce(what: string, count: number): string[] {
  return count > 1 ? [`5: ${count} times ${what}`] : [];
}

/** 6: queues are empty, dead letters are explained. */
function wrongQueues({ messages }: Snapshot, { deadLetters = {} }: Expected): string[] {
  return Object.entries(messages)
    .filter(([queue, count]) => count !== (deadLetters[queue] ?? 0))
    .map(([queue, count]) => `6: ${queue} holds ${count} messages, not ${deadLetters[queue] ?? 0}`);
}

/** 7: no process and no file outlives its job. */
function leftBehind({ ffmpegs, jobDirectories }: Snapshot): string[] {
  return [
    ...ffmpegs.map((command) => `7: still runs: ${command}`),
    ...jobDirectories.map((path) => `7: still there: ${path}`),
  ];
}

/** What the length of a source and of the video made of it may differ by, in minutes: less than a frame. */
const MINUTES_APART = 0.0003;

/** 8: minutes count once a video, bytes once an object. */
function wrongUsage({ usage, events, objects, sentBytes }: Snapshot): string[] {
  const ready = new Map(
    events.filter(({ type }) => type === 'video.ready').map(({ videoId, duration }) => [videoId, duration]),
  );
  const minutes = [...ready.values()].reduce<number>((sum, duration) => sum + (duration ?? 0) / 60, 0);
  const storedBytes = [...objects.values()].reduce((sum, bytes) => sum + bytes, 0);
  return [
    ...(Math.abs(minutes - usage.minutes) > MINUTES_APART * Math.max(ready.size, 1)
      ? [`8: ${usage.minutes.toFixed(4)} minutes are counted for ${minutes.toFixed(4)}`]
      : []),
    ...(storedBytes !== usage.storageBytes
      ? [`8: ${usage.storageBytes} bytes are counted for ${storedBytes} stored`]
      : []),
    ...(usage.bandwidthBytes > sentBytes
      ? [`8: ${usage.bandwidthBytes} bytes are counted for ${sentBytes} sent`]
      : []),
  ];
}

/** 10: no failure without a cause. */
function unexplained({ died, serverErrors }: Snapshot, expected: Expected): string[] {
  return [
    ...died.map((name) => `10: ${name} died by itself`),
    ...(expected.serverErrors ? [] : serverErrors.map((answer) => `10: ${answer}`)),
  ];
}
