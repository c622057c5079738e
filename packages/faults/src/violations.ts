import { wrongCodecs } from './codec-violations.ts';
import type { Snapshot } from './snapshot.ts';

/** Violations that a test causes on purpose. */
export type Expected = {
  /** Dead letters by queue. */
  deadLetters?: Record<string, number>;
  /** Whether the fault explains 5xx responses. */
  serverErrors?: boolean;
};

/** The violations of the guarantees in docs/reliability.md that a snapshot shows, with their numbers, for a cluster at rest. */
export function violations(state: Snapshot, expected: Expected = {}): string[] {
  return [
    ...unfinishedWork(state),
    ...wrongObjects(state),
    ...wrongCodecs(state),
    ...keptKeys(state),
    ...wrongEvents(state),
    ...wrongQueues(state, expected),
    ...leftBehind(state),
    ...wrongUsage(state),
    ...unexplained(state, expected),
  ];
}

/** 1: no work stays unfinished. */
export function unfinishedWork({ videos, jobs }: Pick<Snapshot, 'videos' | 'jobs'>): string[] {
  const stuck = videos
    .filter(({ deleted }) => !deleted)
    .flatMap((video) => {
      const { id, status, ticketExpired, isLeased, codecs } = video;
      // Those of a failed video ended with it.
      const preparing = status === 'ready' ? codecs.filter((each) => each.status === 'preparing') : [];
      return [
        ...preparing.map(({ codec }) => `1: ${codec} of ${id} is still being prepared`),
        ...(status === 'processing' ? [`1: ${id} is still processing`] : []),
        ...(status === 'uploading' && ticketExpired
          ? [`1: ${id} is uploading although its ticket has expired`]
          : []),
        ...(status === 'uploading' && isLeased ? [`1: the ticket of ${id} is still leased`] : []),
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

/** 2, 3, 4: storage holds exactly the artifacts of the database. Those of a video are from one transfer and one attempt. */
function wrongObjects({ videos, objects, unfinishedUploads }: Snapshot): string[] {
  const known = new Map(videos.map((video) => [video.id, video]));
  const strays = [...objects.keys()].filter((key) => {
    const [kind, workspaceId, videoId = '', attempt] = key.split('/');
    const video = known.get(videoId);
    if (video === undefined || video.deleted || video.workspaceId !== workspaceId) return true;
    if (!video.artifacts.some(({ prefix }) => key.startsWith(prefix))) return true;
    if (kind === 'sources') return !video.uploaded || video.sourceDeleted;
    return video.status !== 'ready' || attempt !== `a${video.attempt}`;
  });
  const unequal = videos.flatMap(({ artifacts }) =>
    artifacts.flatMap(({ prefix, bytes }) => {
      const sizes = [...objects].filter(([key]) => key.startsWith(prefix)).map(([, size]) => size);
      const stored = sizes.reduce((sum, size) => sum + size, 0);
      return stored === bytes ? [] : [`2: ${prefix} has ${stored} bytes, not ${bytes}`];
    }),
  );
  const missing = videos
    .filter(({ status, deleted }) => status === 'ready' && !deleted)
    .flatMap(({ id, workspaceId, attempt, stored }) =>
      stored.map((segment) => `hls/${workspaceId}/${id}/a${attempt}/${segment}`),
    )
    .filter((key) => !objects.has(key));
  const sources = videos.filter(
    ({ uploaded, deleted, sourceDeleted }) => uploaded && !deleted && !sourceDeleted,
  );
  const sourceless = sources.filter(
    ({ id, workspaceId }) =>
      [...objects.keys()].filter((key) => key.startsWith(`sources/${workspaceId}/${id}/`)).length !== 1,
  );
  return [
    ...strays.map((key) => `4: ${key} is orphaned`),
    ...unequal,
    ...missing.map((key) => `2: ${key} is missing`),
    ...sourceless.map(({ id }) => `4: ${id} does not have exactly one source`),
    ...unfinishedUploads.map((key) => `4: the multipart upload of ${key} is unfinished`),
  ];
}

/** 3: a video that cannot be played has no content key. */
function keptKeys({ videos }: Snapshot): string[] {
  return videos
    .filter(({ hasKey, deleted, status }) => hasKey && (deleted || status === 'failed'))
    .map(({ id }) => `3: ${id} still has its content key`);
}

/** 5: each end of a video has exactly one event, and it is delivered. */
function wrongEvents(state: Snapshot): string[] {
  const { videos, events, delivered, reusedEventIds, deliveriesOpen } = state;
  const count = (type: string, videoId: string) =>
    events.filter((event) => event.type === type && event.videoId === videoId).length;
  const wrong = videos.flatMap(({ id, status, deleted, retries }) => [
    ...(!deleted && status !== 'ready' && count('video.ready', id) > 0
      ? [`5: ${id} is ${status}, but has been ready`]
      : []),
    ...atMostOnce(`video.ready of ${id}`, count('video.ready', id)),
    ...(deleted && count('video.deleted', id) !== 1
      ? [`5: ${id} does not have exactly one video.deleted event`]
      : []),
    ...(!deleted && status === 'ready' && count('video.ready', id) !== 1
      ? [`5: ${id} does not have exactly one video.ready event`]
      : []),
    ...(deleted ? [] : wrongFailures(id, count('video.failed', id), retries + (status === 'failed' ? 1 : 0))),
  ]);
  const got = new Set(delivered.map(({ id }) => id));
  const written = new Set(events.map(({ id }) => id));
  return [
    ...wrong,
    ...(deliveriesOpen > 0 ? [`5: ${deliveriesOpen} deliveries are open`] : []),
    ...events.filter(({ id }) => !got.has(id)).map(({ id, type }) => `5: ${type} ${id} was not received`),
    ...delivered
      .filter(({ id }) => !written.has(id))
      .map(({ id }) => `5: ${id} is not an event of the database`),
    ...reusedEventIds.map((id) => `5: ${id} came with different bodies`),
  ];
}

/** Only a failed video can be retried, so it has failed before each retry. */
function wrongFailures(id: string, events: number, failures: number): string[] {
  return events === failures
    ? []
    : [`5: ${id} has ${events} video.failed events, but has failed ${failures} times`];
}

function atMostOnce(what: string, count: number): string[] {
  return count > 1 ? [`5: ${count} events ${what}, not one`] : [];
}

/** 6: queues hold no messages but expected dead letters. */
function wrongQueues({ messages }: Snapshot, { deadLetters = {} }: Expected): string[] {
  return Object.entries(messages)
    .filter(([queue, count]) => count !== (deadLetters[queue] ?? 0))
    .map(([queue, count]) => `6: ${queue} holds ${count} messages, not ${deadLetters[queue] ?? 0}`);
}

/** 7: no process and no file remains after its job. */
function leftBehind({ ffmpegs, jobDirectories }: Snapshot): string[] {
  return [
    ...ffmpegs.map((command) => `7: still runs: ${command}`),
    ...jobDirectories.map((path) => `7: still exists: ${path}`),
  ];
}

/** Allowed difference between the durations of a source and its video, in minutes: less than a frame. */
const MINUTES_APART = 0.0003;

/** 8: usage counts the minutes of each video, once more for each codec beside H.264, and the bytes of each object once. */
function wrongUsage({ usage, events, objects, sentBytes }: Snapshot): string[] {
  const ready = new Map(
    events.filter(({ type }) => type === 'video.ready').map(({ videoId, duration }) => [videoId, duration]),
  );
  const transcoded = [
    ...ready.keys(),
    ...events.filter(({ type }) => type === 'video.codec.ready').map(({ videoId }) => videoId),
  ];
  const minutes = transcoded.reduce((sum, videoId) => sum + (ready.get(videoId) ?? 0) / 60, 0);
  const storedBytes = [...objects.values()].reduce((sum, bytes) => sum + bytes, 0);
  return [
    ...(Math.abs(minutes - usage.minutes) > MINUTES_APART * Math.max(transcoded.length, 1)
      ? [`8: ${usage.minutes.toFixed(4)} minutes are counted, not ${minutes.toFixed(4)}`]
      : []),
    ...(storedBytes !== usage.storageBytes
      ? [`8: ${usage.storageBytes} bytes are counted, but ${storedBytes} are stored`]
      : []),
    ...(usage.bandwidthBytes > sentBytes
      ? [`8: ${usage.bandwidthBytes} bytes are counted, but only ${sentBytes} were sent`]
      : []),
  ];
}

/** 10: no unexpected failure. */
function unexplained({ died, serverErrors }: Snapshot, expected: Expected): string[] {
  return [
    ...died.map((name) => `10: ${name} crashed`),
    ...(expected.serverErrors ? [] : serverErrors.map((response) => `10: ${response}`)),
  ];
}
