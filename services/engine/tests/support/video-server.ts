import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { Manifest, RenditionManifest } from '@framelane/contracts/manifest';
import { type PackagingName, segmentName } from '@framelane/contracts/packaging';
import type { StoredVideos } from './worker-bench.ts';

/** The name of initialization sections, beside the playlists of their renditions. */
const INITIALIZATION = 'init.mp4';

/** Serves a stored video as HLS on the loopback interface, with playlists made from its manifest. */
export class VideoServer {
  readonly #server: Server;

  private constructor(bench: StoredVideos, videoId: string, manifest: Manifest) {
    const files = new Map<string, string | Buffer>([
      ['/master.m3u8', masterPlaylist(manifest)],
      ['/key', Buffer.from(bench.contentKey)],
      ...[...manifest.renditions, ...(manifest.iFrames ? [manifest.iFrames] : [])].map(
        (rendition) =>
          [`/${rendition.name}/index.m3u8`, mediaPlaylist(rendition, manifest, bench.packaging)] as const,
      ),
      ...[...manifest.renditions, ...(manifest.iFrames ? [manifest.iFrames] : [])].flatMap(
        ({ name, initialization }) =>
          initialization === undefined
            ? []
            : [[`/${name}/${INITIALIZATION}`, Buffer.from(initialization, 'base64')] as const],
      ),
    ]);
    this.#server = createServer(async (request, response) => {
      const path = request.url ?? '';
      const file = files.get(path);
      if (file !== undefined) {
        response.end(file);
        return;
      }
      const [, name = '', sequence] = /^\/([\w-]+)\/(\d+)\.\w+$/.exec(path) ?? [];
      try {
        const { body } = await bench.objects.get(bench.segmentKey(videoId, name, Number(sequence)));
        await pipeline(body, response);
      } catch {
        response.writeHead(404).end();
      }
    });
  }

  static async start(bench: StoredVideos, videoId: string, manifest: Manifest): Promise<VideoServer> {
    const server = new VideoServer(bench, videoId, manifest);
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/master.m3u8`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

function masterPlaylist(manifest: Manifest): string {
  const iFrames = manifest.iFrames ? [manifest.iFrames] : [];
  const videoRenditions = manifest.renditions.filter(({ width }) => width !== null);
  const stereo = manifest.renditions.filter(({ name }) => name.startsWith('audio'));
  const inSurround = stereo.map(
    (track) =>
      manifest.renditions.find(({ name }) => name === track.name.replace('audio', 'surround')) ?? track,
  );
  const groups = [
    { id: 'audio', members: stereo },
    ...(inSurround.every((member) => stereo.includes(member))
      ? []
      : [{ id: 'surround', members: inSurround }]),
  ];
  return [
    ...['#EXTM3U', '#EXT-X-VERSION:6', '#EXT-X-INDEPENDENT-SEGMENTS'],
    ...groups.flatMap(({ id, members }) =>
      members.map(
        ({ name, label, language, channels }, at) =>
          `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="${id}",NAME="${label}",LANGUAGE="${language ?? 'und'}",` +
          `DEFAULT=${at === 0 ? 'YES' : 'NO'},AUTOSELECT=${at === 0 ? 'YES' : 'NO'},CHANNELS="${channels}",` +
          `URI="${name}/index.m3u8"`,
      ),
    ),
    ...(videoRenditions.length > 0 ? [] : groups).flatMap(({ id, members }) => {
      const rates = members.map((member) => ratesOf(member, manifest));
      const highest = (figure: 'peak' | 'average') => Math.max(...rates.map((each) => each[figure]));
      return [
        `#EXT-X-STREAM-INF:BANDWIDTH=${highest('peak')},AVERAGE-BANDWIDTH=${highest('average')},` +
          `CODECS="${[...new Set(members.map(({ codecs }) => codecs))].join()}",AUDIO="${id}",CLOSED-CAPTIONS=NONE`,
        `${members[0]?.name}/index.m3u8`,
      ];
    }),
    ...groups.flatMap(({ id, members }) =>
      videoRenditions.flatMap((rendition) => {
        const { peak, average } = ratesOf(rendition, manifest);
        const audio = members.map((member) => ratesOf(member, manifest));
        const highest = (figure: 'peak' | 'average') => Math.max(0, ...audio.map((rates) => rates[figure]));
        const codecs = [...new Set([rendition, ...members].map((each) => each.codecs))].join();
        return [
          `#EXT-X-STREAM-INF:BANDWIDTH=${peak + highest('peak')},AVERAGE-BANDWIDTH=${average + highest('average')},` +
            `CODECS="${codecs}",RESOLUTION=${rendition.width}x${rendition.height},FRAME-RATE=${rendition.frameRate?.toFixed(3)},` +
            `${members.length > 0 ? `AUDIO="${id}",` : ''}CLOSED-CAPTIONS=NONE`,
          `${rendition.name}/index.m3u8`,
        ];
      }),
    ),
    ...iFrames.map(
      (rendition) =>
        `#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=${ratesOf(rendition, manifest).peak},CODECS="${rendition.codecs}",` +
        `RESOLUTION=${rendition.width}x${rendition.height},URI="${rendition.name}/index.m3u8"`,
    ),
    '',
  ].join('\n');
}

function mediaPlaylist(
  { name, segments, initialization }: RenditionManifest,
  manifest: Manifest,
  packaging: PackagingName,
): string {
  return [
    ...['#EXTM3U', '#EXT-X-VERSION:6', `#EXT-X-TARGETDURATION:${targetDuration(manifest)}`],
    ...(name === manifest.iFrames?.name ? ['#EXT-X-I-FRAMES-ONLY'] : []),
    '#EXT-X-PLAYLIST-TYPE:VOD',
    // A key before it would apply to it.
    ...(initialization === undefined ? [] : [`#EXT-X-MAP:URI="${INITIALIZATION}"`]),
    '#EXT-X-KEY:METHOD=AES-128,URI="../key"',
    ...segments.flatMap(({ duration }, at) => [
      `#EXTINF:${duration.toFixed(6)},`,
      segmentName(at, packaging),
    ]),
    ...['#EXT-X-ENDLIST', ''],
  ].join('\n');
}

/**
 * Bit rates of a rendition, computed independently of the conformance checks. The peak is the highest of any run of segments
 * that lasts 0.5 to 1.5 target durations (RFC 8216 §4.1), or that of the whole rendition.
 */
function ratesOf({ segments }: RenditionManifest, manifest: Manifest): { peak: number; average: number } {
  const target = targetDuration(manifest);
  const runs = segments.flatMap((_, from) => runsFrom(segments.slice(from), target));
  return {
    peak: Math.ceil(Math.max(...[segments, ...runs].map(bitRate))),
    average: Math.ceil(bitRate(segments)),
  };
}

/** The runs that begin with the first segment and have an allowed length. */
function runsFrom(segments: Segments, target: number): Segments[] {
  const ends = segments.map((_, at) => at + 1);
  const tooLong = ends.find((end) => secondsOf(segments.slice(0, end)) > 1.5 * target) ?? ends.length + 1;
  const runs = ends.slice(0, tooLong - 1).map((end) => segments.slice(0, end));
  return runs.filter((run) => secondsOf(run) >= target / 2);
}

type Segments = RenditionManifest['segments'];

function bitRate(segments: Segments): number {
  return (8 * segments.reduce((sum, { bytes }) => sum + bytes, 0)) / secondsOf(segments);
}

function secondsOf(segments: Segments): number {
  return segments.reduce((sum, { duration }) => sum + duration, 0);
}

function targetDuration({ renditions }: Manifest): number {
  const longest = Math.max(...renditions.flatMap(({ segments }) => segments.map(({ duration }) => duration)));
  return Math.max(1, Math.round(longest));
}
