import { join } from 'node:path';
import type { FramelaneClient } from '@framelane/client';
import { upload } from '@framelane/client/node';
import { makeClip } from '@framelane/test-kit/clips';

type Example = { title: string; tags: string[]; video: string; seconds: number; signed?: true };

/** Videos as a small film studio has them. The pictures are computed, because the repository contains no films. */
const EXAMPLES: readonly Example[] = [
  film('Harbour at dawn', ['film'], 'gradients=s=640x360:c0=#0b2545:c1=#f4a261:c2=#e76f51:n=3:seed=7', 48),
  film(
    'Interview with the captain',
    ['interview'],
    'gradients=s=640x360:c0=#264653:c1=#2a9d8f:n=2:seed=3',
    62,
  ),
  film('Zoom into the Seahorse Valley', ['mathematics', 'film'], 'mandelbrot=s=640x360:rate=25', 20),
  film('Product tour, second cut', ['product'], 'gradients=s=640x360:c0=#3d348b:c1=#f7b801:n=2:seed=9', 35),
  film('Test card for the projector', ['test'], 'testsrc2=s=640x360:rate=25', 15),
  film('Colour bars', ['test'], 'smptehdbars=s=640x360:rate=25', 12),
  film(
    'Onboarding, part 1',
    ['product', 'course'],
    'gradients=s=640x360:c0=#003049:c1=#669bbc:n=2:seed=5',
    41,
  ),
  film(
    'Onboarding, part 2',
    ['product', 'course'],
    'gradients=s=640x360:c0=#780000:c1=#fdf0d5:n=2:seed=2',
    38,
  ),
  film(
    'Board meeting, November',
    ['internal'],
    'gradients=s=640x360:c0=#14213d:c1=#fca311:n=2:seed=1',
    57,
    true,
  ),
  film('Growth of a crystal', ['mathematics'], 'sierpinski=s=640x360:type=triangle:rate=25', 18),
  film('Night train', ['film'], 'gradients=s=640x360:c0=#10002b:c1=#9d4edd:c2=#ff9e00:n=3:seed=8', 44),
  film('Rehearsal', ['film', 'internal'], 'gradients=s=640x360:c0=#081c15:c1=#95d5b2:n=2:seed=6', 29),
];

function film(title: string, tags: string[], video: string, seconds: number, signed?: true): Example {
  return { title, tags, video, seconds, ...(signed && { signed }) };
}

/** Uploads the examples, one file that is no video, and a ticket that waits for its file. Resolves with the id of the video to open. */
export async function fillLibrary(client: FramelaneClient, directory: string): Promise<string> {
  const ids: string[] = [];
  for (const [at, { title, tags, video, seconds, signed }] of EXAMPLES.entries()) {
    const path = await makeClip(join(directory, `${at}.mp4`), {
      video,
      audio: 'sine=frequency=220',
      options: ['-t', String(seconds), '-c:a', 'aac'],
    });
    const ticket = await client.uploadTickets.create({
      filename: `${at}.mp4`,
      title,
      tags,
      ...(signed && { playbackPolicy: 'signed' }),
    });
    await upload(path, ticket);
    ids.push(ticket.videoId);
  }
  for (const id of ids) await client.videos.waitUntilReady(id);
  const notes = await client.uploadTickets.create({ filename: 'notes.mp4', title: 'Notes of the director' });
  await upload(new Blob(['These are notes and no video.']), notes);
  await client.uploadTickets.create({ filename: 'trailer.mp4', title: 'Trailer' });
  return ids[2] ?? '';
}
