import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { UploadTicketRequest } from '@framelane/client';
import { upload } from '@framelane/client/node';
import { FakeS3 } from '@framelane/test-kit/fake-s3';
import { SingleNodeProcess } from '@framelane/test-kit/single-node-process';
import { FramelaneClient } from './framelane-client.ts';

/** A single node that keeps its objects in S3, and redirects players there for segments. */
export class RedirectingNode {
  readonly #dataDir: string;
  readonly #s3: FakeS3;
  readonly #node: SingleNodeProcess;

  private constructor(dataDir: string, s3: FakeS3, node: SingleNodeProcess) {
    this.#dataDir = dataDir;
    this.#s3 = s3;
    this.#node = node;
  }

  static async start(): Promise<RedirectingNode> {
    const dataDir = await mkdtemp(join(tmpdir(), 'framelane-redirect-'));
    const s3 = await FakeS3.start();
    try {
      const node = await SingleNodeProcess.start(dataDir, {
        S3_ENDPOINT: s3.endpoint,
        S3_BUCKET: s3.bucket,
        SEGMENT_SERVING: 'redirect',
        ENGINE_PRESET: 'ultrafast',
        S3_ACCESS_KEY_ID: 'tests',
        S3_SECRET_ACCESS_KEY: 'tests-only-secret',
      });
      return new RedirectingNode(dataDir, s3, node);
    } catch (error) {
      await s3.stop();
      await rm(dataDir, { recursive: true });
      throw error;
    }
  }

  /** How many objects S3 has served. */
  get served(): number {
    return this.#s3.log.filter((operation) => operation === 'GetObject').length;
  }

  /** Uploads a file as a signed video. `fields` are those of the ticket. Resolves with the client and the video once it is ready. */
  async publishSigned(
    path: string,
    fields: Partial<UploadTicketRequest>,
  ): Promise<{ client: FramelaneClient; videoId: string }> {
    const { baseUrl, engineUrl, apiKey } = this.#node;
    const target = {
      baseUrl,
      engineUrl,
      apiKey,
      workspaceId: this.#node.fact('Workspace'),
      objectsDir: null,
      signInProvider: null,
      recognized: null,
    };
    const client = new FramelaneClient(target);
    const ticket = await client.requestTicket({
      filename: 'clip.mp4',
      playbackPolicy: 'signed',
      ...fields,
    });
    await upload(path, ticket);
    // The rules of HLS are not checked: redirects break one.
    await client.api.videos.waitUntilReady(ticket.videoId);
    return { client, videoId: ticket.videoId };
  }

  async stop(): Promise<void> {
    await this.#node.stop();
    await this.#s3.stop();
    await rm(this.#dataDir, { recursive: true });
  }
}
