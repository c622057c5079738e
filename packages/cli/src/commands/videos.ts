import type { Video } from '@framelane/client';
import type { Command } from 'commander';
import type { Host } from '../host.ts';
import { apiCommand } from '../run-command.ts';
import { table } from '../terminal/table.ts';

/** `videos list`. */
export function addVideoCommands(program: Command, host: Host): void {
  const videos = program.command('videos').description('list, show and change videos');
  apiCommand(
    videos.command('list').description('list videos, the newest first'),
    host,
    async ({ client, output }) => {
      const found: Video[] = [];
      for await (const video of client.videos.list()) found.push(video);
      output.result(found, describeVideos);
    },
  );
}

function describeVideos(videos: readonly Video[]): string {
  return table(
    ['ID', 'STATUS', 'CREATED', 'TITLE'],
    videos.map(({ id, status, createdAt, title }) => [id, status, createdAt, title ?? '']),
  );
}
