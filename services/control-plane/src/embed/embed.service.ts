import type { components } from '@framelane/openapi/types';
import { Problem } from '@framelane/service-kit/problem';
import type { PlaybackService } from '../playback/playback.service.ts';
import type { PlaybackAccessService } from '../playback/playback-access.service.ts';
import { withToken } from '../playback/playback-token.ts';
import { jpegSize } from '../posters/poster-image.ts';
import type { VideoRecord } from '../videos/video-record.ts';
import type { VideosService } from '../videos/videos.service.ts';

/** What a viewer may know of a video. */
export type EmbedState = components['schemas']['EmbedState'];

/** The content of the player page, and the origins that may show it. */
export type EmbedContent = {
  /** The status of the response. */
  status: number;
  state: EmbedState | { status: 'refused'; code: string };
  /** The origins whose pages may show the page in a frame, besides its own; undefined for all. */
  frameOrigins: readonly string[] | undefined;
  /** The origins, besides its own, from which the page loads segments. */
  segmentOrigins: readonly string[];
  /** The URL of the oEmbed response; undefined for a signed video and a refusal. */
  oEmbedUrl: string | undefined;
};

/** The largest size of an embedded player, in pixels. */
type MaxSize = { width: number; height: number };

const DEFAULT_WIDTH = 640;
/** The height of the player of sound alone, in pixels: its poster and its controls. */
const SOUND_HEIGHT = 240;

type Deps = {
  videos: VideosService;
  access: PlaybackAccessService;
  playback: PlaybackService;
  baseUrl: string;
  /** For videos that have no list of their own; undefined for all. */
  frameOrigins: readonly string[] | undefined;
};

/** Decides what the player page shows to a viewer. A signed video shows nothing without a token, whatever its state. */
export class EmbedService {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Throws 404 `video_not_found`, and 401 or 403 for a signed video without a valid token. */
  async state(workspaceId: string, videoId: string, token: unknown): Promise<EmbedState> {
    return this.#stateOf(await this.#deps.videos.get(workspaceId, videoId), token);
  }

  /** The content of the page: the state, or why it is refused. */
  async content(workspaceId: string, videoId: string, token: unknown): Promise<EmbedContent> {
    const segmentOrigins = await this.#deps.playback.segmentOrigins();
    // Every site may show a refusal in a frame: it shows nothing of the video, and the page around it may send a token.
    const refused = (problem: unknown): EmbedContent => {
      if (!(problem instanceof Problem) || problem.status >= 500) throw problem;
      const state = { status: 'refused' as const, code: problem.code };
      const { status } = problem;
      return { status, state, frameOrigins: undefined, segmentOrigins, oEmbedUrl: undefined };
    };
    const video = await this.#deps.videos.get(workspaceId, videoId).catch(refused);
    if ('state' in video) return video;
    const state = await this.#stateOf(video, token).catch(refused);
    if ('state' in state) return state;
    const frameOrigins = video.allowedOrigins ?? this.#deps.frameOrigins;
    return { status: 200, state, frameOrigins, segmentOrigins, oEmbedUrl: this.#oEmbedUrl(video) };
  }

  /**
   * The oEmbed response for the address of a player page. Throws 404 `video_not_found`, also for other addresses, and 401
   * `playback_token_required` for a signed video.
   */
  async oEmbed(url: string, max: MaxSize): Promise<components['schemas']['OEmbed']> {
    const [, workspaceId, videoId] = /^\/embed\/(\w+)\/(\w+)\/?$/.exec(this.#pathOf(url)) ?? [];
    if (workspaceId === undefined || videoId === undefined) throw noVideo();
    const video = await this.#deps.videos.get(workspaceId, videoId);
    if (video.playbackPolicy === 'signed') throw signedVideo();
    const isSound = isSoundAlone(video);
    const size = isSound
      ? soundSizeWithin(max)
      : sizeWithin(video, {
          width: Math.min(max.width, video.width ?? DEFAULT_WIDTH),
          height: max.height,
        });
    return {
      type: isSound ? 'rich' : 'video',
      version: '1.0',
      provider_name: 'Framelane',
      title: video.title,
      html: frameHtml(video, size),
      ...size,
      ...(await this.#thumbnailOf(video, max)),
    };
  }

  async #stateOf(video: VideoRecord, token: unknown): Promise<EmbedState> {
    const isPublic = video.playbackPolicy === 'public';
    const valid = isPublic ? undefined : await this.#deps.access.requireToken(token, video.id);
    const { title, progress, hls, preview } = video;
    const address = (url: string | null) => url && withToken(new URL(url).pathname, valid);
    const common = { title, progress, audioOnly: isSoundAlone(video) };
    if (video.status === 'failed') return { status: 'failed', ...common };
    if (hls === undefined) {
      const early = preview && {
        hls: address(preview.hls) ?? '',
        ...(await this.#attemptOf(video)),
      };
      const tasks = await this.#deps.videos.taskCounts(video.id);
      return { status: 'preparing', ...common, ...early, ...(tasks && { tasks }) };
    }
    const poster = address(video.thumbnail);
    const storyboard = address(video.storyboard);
    const source = {
      hls: address(hls) ?? '',
      ...(await this.#attemptOf(video)),
    };
    const chapters = video.chapterCount === 0 ? null : address(hls.replace(/master\.m3u8$/, 'chapters.json'));
    return { status: 'ready', ...common, ...source, poster, storyboard, chapters };
  }

  /** The poster, unless it exceeds the maximum: oEmbed 1.0, section 2.3.4, limits thumbnails as well. */
  async #thumbnailOf(
    { workspaceId, id, thumbnail, poster }: VideoRecord,
    max: MaxSize,
  ): Promise<Partial<components['schemas']['OEmbed']>> {
    if (thumbnail === null) return {};
    // Only the image itself has the size of a frame that the engine has chosen.
    const size =
      poster ?? (await this.#deps.playback.poster(workspaceId, id).then(jpegSize).catch(ifUnavailable));
    if (size === undefined || size.width > max.width || size.height > max.height) return {};
    return { thumbnail_url: thumbnail, thumbnail_width: size.width, thumbnail_height: size.height };
  }

  async #attemptOf({ workspaceId, id }: VideoRecord): Promise<Pick<EmbedState, 'attempt'>> {
    const attempt = await this.#deps.playback.attempt(workspaceId, id);
    return attempt === undefined ? {} : { attempt };
  }

  #oEmbedUrl({ playbackPolicy, embed }: VideoRecord): string | undefined {
    return playbackPolicy === 'public'
      ? `${this.#deps.baseUrl}/oembed?url=${encodeURIComponent(embed)}`
      : undefined;
  }

  /** The path of an address of this API, without `/v1`; empty for other addresses. */
  #pathOf(url: string): string {
    const parsed = URL.parse(url);
    const base = new URL(this.#deps.baseUrl);
    const isOwn = parsed?.origin === base.origin && parsed.pathname.startsWith(`${base.pathname}/`);
    return isOwn ? parsed.pathname.slice(base.pathname.length) : '';
  }
}

/** The size of the player: that of the video, 16:9 until it is known, within a maximum. */
function sizeWithin({ width, height }: Pick<VideoRecord, 'width' | 'height'>, max: MaxSize): MaxSize {
  const ratio = width !== null && height !== null ? width / height : 16 / 9;
  const fitting = Math.min(max.width, max.height * ratio);
  return { width: Math.max(1, Math.round(fitting)), height: Math.max(1, Math.round(fitting / ratio)) };
}

function soundSizeWithin(max: MaxSize): MaxSize {
  const within = (pixels: number, limit: number) => Math.max(1, Math.round(Math.min(pixels, limit)));
  return { width: within(DEFAULT_WIDTH, max.width), height: within(SOUND_HEIGHT, max.height) };
}

/** Whether the stream, or its preview, has no video. */
function isSoundAlone({
  variants,
  preview,
  audioOnly,
}: Pick<VideoRecord, 'variants' | 'preview' | 'audioOnly'>): boolean {
  const known = variants ?? preview?.variants;
  return known === undefined ? audioOnly === true : known.length === 0;
}

function frameHtml({ embed, title }: VideoRecord, { width, height }: MaxSize): string {
  const attributes = {
    src: embed,
    width: String(width),
    height: String(height),
    title,
    allow: 'autoplay; fullscreen; picture-in-picture',
    style: 'border:0',
  };
  const text = Object.entries(attributes).map(([name, value]) => `${name}="${escapeHtml(value)}"`);
  return `<iframe ${text.join(' ')}></iframe>`;
}

/** A thumbnail is optional, so its image may be unavailable or deleted meanwhile. Throws any other error. */
function ifUnavailable(error: unknown): undefined {
  if (!(error instanceof Problem)) throw error;
}

/** Text for HTML, also for attributes in double quotes. */
export function escapeHtml(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? '');
}

function noVideo(): Problem {
  return new Problem(
    'video_not_found',
    'No video has this player page. Send the "embed" of a video as "url".',
  );
}

function signedVideo(): Problem {
  return new Problem(
    'playback_token_required',
    'This video is signed. Only public videos have an oEmbed response.',
    { headers: { 'WWW-Authenticate': 'Bearer' } },
  );
}
