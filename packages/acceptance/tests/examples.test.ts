import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, jest, test } from '@jest/globals';
import { ApiDescription } from '../src/api-description.ts';
import { makeClip } from '../src/clips.ts';
import { FramelaneClient, type Ticket } from '../src/framelane-client.ts';
import { runProgram } from '../src/run-program.ts';
import { readTarget } from '../src/target.ts';

jest.setTimeout(60_000);

const README = join(import.meta.dirname, '..', '..', '..', 'README.md');

const target = readTarget(process.env);
const client = new FramelaneClient(target);
const api = await ApiDescription.fetch(target.baseUrl);
const directory = await mkdtemp(join(tmpdir(), 'framelane-examples-'));

afterAll(async () => {
  await client.deleteAll();
  await rm(directory, { recursive: true });
});

test.each(api.requestExamples('createUploadTicket'))(
  'the ticket request "%s" of the API description works',
  async (_name, example) => {
    const answer = await client.call('POST', '/videos/upload-ticket', example);
    const ticket = (await answer.clone().json()) as Ticket;
    client.adopt(ticket.videoId);
    expect(answer.status).toBe(201);
    expect(answer.headers.get('location')).toBe(`${target.baseUrl}/videos/${ticket.videoId}`);
    expect(await api.complaints('createUploadTicket', answer)).toEqual([]);
  },
);

test.each(api.requestExamples('updateVideo'))(
  'the change "%s" of the API description works',
  async (_name, example) => {
    const { videoId } = await client.requestTicket({ filename: 'clip.mp4' });
    const answer = await client.call('PATCH', `/videos/${videoId}`, example);
    expect(answer.status).toBe(200);
    expect(await api.complaints('updateVideo', answer)).toEqual([]);
  },
);

test('the lines of the README take a video from ticket to ready', async () => {
  const block = /```sh\n(TICKET=.*?)```/s.exec(await readFile(README, 'utf8'))?.[1] ?? '';
  const lines = block
    .replaceAll('http://localhost:8080/v1', target.baseUrl)
    .replaceAll('http://localhost:8090', target.engineUrl);
  const plan = { name: 'sample', width: 320, height: 180, rate: '25', seconds: 2, audio: null };
  const { stdout } = await runProgram('sh', ['-c', lines], {
    KEY: target.apiKey,
    WORKSPACE: target.workspaceId,
    FILE: await makeClip(directory, plan),
  });
  const [ticket, receipt, video] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  client.adopt(ticket.videoId);
  expect(receipt).toMatchObject({ videoId: ticket.videoId, status: 'processing' });
  expect(video).toMatchObject({ id: ticket.videoId, status: 'ready', variants: ['360p'] });
});
