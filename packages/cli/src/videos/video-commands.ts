import type { Resources, Video } from '@framelane/client';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { words } from '../arguments.ts';
import { firstOf } from '../first-of.ts';
import type { Host } from '../host.ts';
import { apiCommand } from '../run-command.ts';
import { durationText, sizeText } from '../terminal/amounts.ts';
import { confirm } from '../terminal/confirm.ts';
import { facts, table } from '../terminal/table.ts';
import { openInBrowser } from './open-in-browser.ts';
import { waitForVideo } from './wait-for-video.ts';

type Filter = NonNullable<Parameters<Resources['videos']['list']>[0]>;

type ListOptions = {
  status?: string[];
  search?: string;
  tag?: string;
  createdAfter?: string;
  createdBefore?: string;
  environment?: 'live' | 'test';
  order: 'asc' | 'desc';
  max: number;
};

/** `videos` with its commands. */
export function addVideoCommands(program: Command, host: Host): void {
  const videos = program.command('videos').description('list, watch, open and delete videos');
  addList(videos, host);

  apiCommand(
    videos.command('show').description('show the record of a video').argument('<id>', 'the video'),
    host,
    async ({ client, output }, _options, id: string) => {
      output.result(await client.videos.get(id, { signal: host.signal }), describe);
    },
  );

  apiCommand(
    videos
      .command('watch')
      .description('show the progress of a video until it can be played')
      .argument('<id>', 'the video'),
    host,
    async (session, _options, id: string) => {
      const video = await waitForVideo(id, session);
      session.output.event({ type: 'ready', video }, () => describe(video));
    },
  );

  apiCommand(
    videos
      .command('open')
      .description('show the player page of a video in the browser')
      .argument('<id>', 'the video')
      .option('--print', 'only print its URL'),
    host,
    async ({ client, output }, { print }: { print?: boolean }, id: string) => {
      const video = await client.videos.get(id, { signal: host.signal });
      const url = await pageOf(video, client);
      if (!print && !output.json) await openInBrowser(url);
      output.result({ url }, () => `${url}\n`);
    },
  );

  apiCommand(
    videos
      .command('delete')
      .description('delete videos for good')
      .argument('<id...>', 'the videos')
      .option('--yes', 'do not ask'),
    host,
    async ({ client, output }, { yes }: { yes?: boolean }, ids: string[]) => {
      const what = ids.length === 1 ? `the video ${ids[0]}` : `${ids.length} videos`;
      if (!yes) await confirm(`Delete ${what} for good?`, host);
      for (const id of ids) {
        await client.videos.delete(id, { signal: host.signal });
        output.note(`Deleted ${id}.`);
      }
      if (output.json) output.result({ deleted: ids }, () => '');
    },
  );
}

function addList(videos: Command, host: Host): void {
  const command = videos
    .command('list')
    .description('list videos, the newest first')
    .option('--status <list>', 'only these of uploading,processing,ready,failed', words)
    .option('--search <text>', 'only videos whose title contains the text')
    .option('--tag <tag>', 'only videos with the tag')
    .option(
      '--created-after <time>',
      'only videos created at this time or later, such as 2026-11-01',
      readTime,
    )
    .option('--created-before <time>', 'only videos created before this time', readTime)
    .addOption(
      new Option('--environment <kind>', 'only videos of this environment').choices(['live', 'test']),
    )
    .addOption(
      new Option('--order <order>', 'oldest or newest first').choices(['asc', 'desc']).default('desc'),
    )
    .option('--max <n>', 'how many at most, or all', readMax, 25)
    .addHelpText(
      'after',
      '\nExamples:\n  framelane videos list --status failed --max all\n  framelane videos list --json --tag holiday',
    );
  apiCommand(command, host, async ({ client, output }, options: ListOptions) => {
    const { max, search, status, tag, createdAfter, createdBefore, environment, order } = options;
    const filter = { status, q: search, tag, createdAfter, createdBefore, environment, order };
    const query = { ...filter, limit: Math.min(max, 100) } as Filter;
    output.result(await firstOf(client.videos.list(query, { signal: host.signal }), max), describeList);
  });
}

/** The URL of the player page. That of a signed video needs a token. */
async function pageOf(
  { id, embed, playbackPolicy }: Video,
  client: Pick<Resources, 'videos'>,
): Promise<string> {
  if (playbackPolicy !== 'signed') return embed;
  const { token } = await client.videos.createPlaybackToken(id);
  const url = new URL(embed);
  url.searchParams.set('token', token);
  return url.href;
}

function readTime(text: string): string {
  const time = new Date(text);
  if (Number.isNaN(time.getTime()))
    throw new InvalidArgumentError('Use a time such as 2026-11-01 or 2026-11-01T09:00:00Z.');
  return time.toISOString();
}

function readMax(text: string): number {
  const max = text === 'all' ? Number.POSITIVE_INFINITY : Number(text);
  if (max > 0 && (Number.isInteger(max) || text === 'all')) return max;
  throw new InvalidArgumentError('Use a whole number above 0, or all.');
}

function describeList(videos: readonly Video[]): string {
  if (videos.length === 0) return 'No video matches.\n';
  return table(
    ['ID', 'STATUS', 'CREATED', 'DURATION', 'TITLE'],
    videos.map(({ id, status, progress, createdAt, duration, title }) => [
      id,
      status === 'processing' ? `${status} ${progress} %` : status,
      createdAt,
      duration === null ? '-' : durationText(duration),
      title,
    ]),
  );
}

function describe(video: Video): string {
  const { id, title, status, progress, error, duration, width, height, size, tags, metadata } = video;
  return facts({
    Video: id,
    Title: title,
    Status: status === 'processing' ? `${status}, ${progress} %` : status,
    Error: error && `${error.message} (${error.code})`,
    Created: video.createdAt,
    Duration: duration === null ? null : durationText(duration),
    Picture: width === null || height === null ? null : `${width} × ${height}`,
    File: size === null ? video.filename : `${video.filename}, ${sizeText(size)}`,
    Playback: video.playbackPolicy,
    Tags: tags.length === 0 ? null : tags.join(', '),
    ...Object.fromEntries(Object.entries(metadata).map(([name, value]) => [`  ${name}`, value])),
    Captions: video.captions.map(({ language }) => language).join(', ') || null,
    Page: video.embed,
    HLS: video.hls,
  });
}
