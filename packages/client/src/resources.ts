import type { Api } from './api.ts';
import type {
  ImportRequest,
  Paths,
  ReadyVideo,
  Schemas,
  UploadTicket,
  UploadTicketRequest,
  Video,
} from './contract.ts';
import { errorOf, unwrap } from './framelane-error.ts';
import { listAll } from './list.ts';
import type { CallOptions } from './operations.ts';
import { type WaitOptions, waitUntilReady } from './wait-until-ready.ts';

export type SourceOptions = CallOptions & {
  /** The bytes to download, e.g. `bytes=1000-` to resume. The response has the status 206. */
  range?: string | undefined;
  /** The `ETag` of the file that the range is for. If the stored file has another `ETag`, the response is the whole file. */
  ifRange?: string | undefined;
};

export type CaptionsOptions = CallOptions & {
  /** Default: that of the file, which begins with `WEBVTT` if it is WebVTT. */
  format?: 'webvtt' | 'subrip' | undefined;
  /** The name in the player's menu. Default: the name of the language. */
  label?: string | undefined;
  /** Whether players show these captions unless the viewer chooses otherwise. */
  default?: boolean | undefined;
};

type Query<
  Path extends
    | '/videos'
    | '/tags'
    | '/events'
    | '/webhooks'
    | '/webhooks/{id}/deliveries'
    | '/api-keys'
    | '/auth/usage'
    | '/analytics'
    | '/analytics/videos/{id}'
    | '/requests'
    | '/request-errors'
    | '/audit-events'
    | '/audit-events/csv',
> = NonNullable<Paths[Path]['get']['parameters']['query']>;

export type Resources = ReturnType<typeof createResources>;

/**
 * One method for each operation of the contract that a program calls. Lists yield every entry and fetch the next page when
 * it is needed. All methods throw a FramelaneError if the request fails.
 */
export function createResources(api: Api) {
  return {
    uploadTickets: {
      /** Creates a video and the ticket for the upload of its file. */
      create: (body: UploadTicketRequest, options?: CallOptions): Promise<UploadTicket> =>
        unwrap(api.POST('/videos/upload-ticket', { ...options, body })),
    },
    videos: {
      /** Creates a video from a file on a web server. Resolves before the file has arrived; `import` shows the progress. */
      import: (body: ImportRequest, options?: CallOptions): Promise<Video> =>
        unwrap(api.POST('/videos/import', { ...options, body })),
      get: (id: string, options?: CallOptions): Promise<Video> =>
        unwrap(api.GET('/videos/{id}', { ...options, params: { path: { id } } })),
      /** What has happened to a video, oldest first. */
      timeline: async (id: string, options?: CallOptions): Promise<Schemas['TimelineEntry'][]> => {
        const { data } = await unwrap(
          api.GET('/videos/{id}/timeline', { ...options, params: { path: { id } } }),
        );
        return data;
      },
      list: (query: Query<'/videos'> = {}, options?: CallOptions): AsyncGenerator<Video, void> =>
        listAll((position) =>
          api.GET('/videos', { ...options, params: { query: { ...query, ...position } } }),
        ),
      /** The tags in use, the most used first. */
      listTags: async (query: Query<'/tags'> = {}, options?: CallOptions): Promise<Schemas['TagUse'][]> => {
        const { data } = await unwrap(api.GET('/tags', { ...options, params: { query } }));
        return data;
      },
      update: (id: string, body: Schemas['VideoPatch'], options?: CallOptions): Promise<Video> =>
        unwrap(api.PATCH('/videos/{id}', { ...options, params: { path: { id } }, body })),
      delete: (id: string, options?: CallOptions): Promise<undefined> =>
        unwrap(api.DELETE('/videos/{id}', { ...options, params: { path: { id } } })),
      /** Transcodes the file of a failed video again. */
      retry: (id: string, options?: CallOptions): Promise<Video> =>
        unwrap(api.POST('/videos/{id}/retry', { ...options, params: { path: { id } } })),
      /**
       * Downloads the uploaded file. `body` of the response is a stream; `Readable.fromWeb` converts it to a Node stream. An interrupted
       * body is not retried: call again with the missing range.
       */
      getSource: async (
        id: string,
        { range, ifRange, ...options }: SourceOptions = {},
      ): Promise<Response> => {
        const { error, response } = await api.GET('/videos/{id}/source', {
          ...options,
          params: {
            path: { id },
            header: { ...(range && { Range: range }), ...(ifRange && { 'If-Range': ifRange }) },
          },
          parseAs: 'stream',
        });
        if (!response.ok) throw errorOf(response.status, response.headers.get('x-request-id'), error);
        return response;
      },
      /** Deletes the uploaded file of a video that is ready or failed. The video can no longer be retried. */
      deleteSource: (id: string, options?: CallOptions): Promise<undefined> =>
        unwrap(api.DELETE('/videos/{id}/source', { ...options, params: { path: { id } } })),
      /** Sets or replaces the poster with a JPEG image. */
      setPoster: (id: string, image: Blob | Uint8Array, options?: CallOptions): Promise<Video> =>
        unwrap(
          api.PUT('/videos/{id}/poster', {
            ...options,
            params: { path: { id } },
            body: image,
            headers: { 'Content-Type': 'image/jpeg' },
          }),
        ),
      /** Deletes the poster that was set: the thumbnail is a frame of the video again. */
      deletePoster: (id: string, options?: CallOptions): Promise<undefined> =>
        unwrap(api.DELETE('/videos/{id}/poster', { ...options, params: { path: { id } } })),
      /** Creates a token that plays a `signed` video. */
      createPlaybackToken: (
        id: string,
        body: Partial<Schemas['PlaybackTokenRequest']> = {},
        options?: CallOptions,
      ): Promise<Schemas['PlaybackToken']> =>
        unwrap(
          api.POST('/videos/{id}/playback-tokens', {
            ...options,
            params: { path: { id } },
            body,
          }),
        ),
      /** Polls until a video can be played. Throws a VideoFailedError if it fails. */
      waitUntilReady: (id: string, options?: WaitOptions): Promise<ReadyVideo> =>
        waitUntilReady(
          () => unwrap(api.GET('/videos/{id}', { ...options, params: { path: { id } } })),
          options,
        ),
    },
    clips: {
      /** Makes a new video from a part of a video that is ready. Wait with `videos.waitUntilReady`. */
      create: (videoId: string, body: Schemas['ClipRequest'], options?: CallOptions): Promise<Video> =>
        unwrap(
          api.POST('/videos/{id}/clips', {
            ...options,
            params: { path: { id: videoId } },
            body,
          }),
        ),
    },
    downloads: {
      /**
       * Prepares files that people can save: at once if the video is ready, else when it becomes ready. Resolves with all downloads of the video
       * before they are ready.
       */
      create: async (
        videoId: string,
        files: Schemas['DownloadName'][],
        options?: CallOptions,
      ): Promise<Schemas['Download'][]> => {
        const { data } = await unwrap(
          api.POST('/videos/{id}/downloads', {
            ...options,
            params: { path: { id: videoId } },
            body: { files },
          }),
        );
        return data;
      },
      list: async (videoId: string, options?: CallOptions): Promise<Schemas['Download'][]> => {
        const { data } = await unwrap(
          api.GET('/videos/{id}/downloads', {
            ...options,
            params: { path: { id: videoId } },
          }),
        );
        return data;
      },
      /** Deletes a file, or ends its preparation. */
      delete: (videoId: string, file: Schemas['DownloadName'], options?: CallOptions): Promise<undefined> =>
        unwrap(
          api.DELETE('/videos/{id}/downloads/{file}', {
            ...options,
            params: { path: { id: videoId, file } },
          }),
        ),
    },
    watermarks: {
      /** Stores a PNG or JPEG image that videos can show. */
      create: (
        image: Blob | Uint8Array,
        { type, name, ...options }: CallOptions & { type: 'image/png' | 'image/jpeg'; name?: string },
      ): Promise<Schemas['Watermark']> =>
        unwrap(
          api.POST('/watermarks', {
            ...options,
            params: { query: { ...(name !== undefined && { name }) } },
            body: image,
            headers: { 'Content-Type': type },
          }),
        ),
      /** All images of the workspace, newest first. */
      list: async (options?: CallOptions): Promise<Schemas['Watermark'][]> => {
        const { data } = await unwrap(api.GET('/watermarks', options));
        return data;
      },
      get: (id: string, options?: CallOptions): Promise<Schemas['Watermark']> =>
        unwrap(api.GET('/watermarks/{id}', { ...options, params: { path: { id } } })),
      /** The file of an image, PNG or JPEG. */
      getImage: (id: string, options?: CallOptions): Promise<Blob> =>
        unwrap(
          api.GET('/watermarks/{id}/image', {
            ...options,
            params: { path: { id } },
            parseAs: 'blob',
          }),
        ),
      /** Deletes an image for new videos; those that have it keep it. */
      delete: (id: string, options?: CallOptions): Promise<undefined> =>
        unwrap(api.DELETE('/watermarks/{id}', { ...options, params: { path: { id } } })),
    },
    captions: {
      /** Sets or replaces the captions of a language (BCP 47) with a WebVTT or SubRip file. */
      set: (
        videoId: string,
        language: string,
        file: string,
        { format, label, default: isDefault, ...options }: CaptionsOptions = {},
      ): Promise<Schemas['Captions']> => {
        const isWebVtt = format === undefined ? /^\ufeff?WEBVTT/.test(file) : format === 'webvtt';
        return unwrap(
          api.PUT('/videos/{id}/captions/{language}', {
            ...options,
            params: {
              path: { id: videoId, language },
              query: {
                ...(label !== undefined && { label }),
                ...(isDefault !== undefined && { default: isDefault }),
              },
            },
            body: file,
            headers: { 'Content-Type': isWebVtt ? 'text/vtt' : 'application/x-subrip' },
          }),
        );
      },
      /**
       * Makes captions by speech recognition: at once if the video is ready, else when it becomes ready. `true` detects the language. Resolves with
       * all that were asked for, before they are ready.
       */
      generate: async (
        videoId: string,
        autoCaptions: Schemas['AutoCaptionsChoice'],
        options?: CallOptions,
      ): Promise<Schemas['AutoCaptions'][]> => {
        const { data } = await unwrap(
          api.POST('/videos/{id}/captions/generate', {
            ...options,
            params: { path: { id: videoId } },
            body: { autoCaptions },
          }),
        );
        return data;
      },
      /** Changes the label or the default, without the file. */
      update: (
        videoId: string,
        language: string,
        body: Schemas['CaptionsPatch'],
        options?: CallOptions,
      ): Promise<Schemas['Captions']> =>
        unwrap(
          api.PATCH('/videos/{id}/captions/{language}', {
            ...options,
            params: { path: { id: videoId, language } },
            body,
          }),
        ),
      list: async (videoId: string, options?: CallOptions): Promise<Schemas['Captions'][]> => {
        const { data } = await unwrap(
          api.GET('/videos/{id}/captions', { ...options, params: { path: { id: videoId } } }),
        );
        return data;
      },
      /** The captions of a language as a WebVTT file. */
      get: (videoId: string, language: string, options?: CallOptions): Promise<string> =>
        unwrap(
          api.GET('/videos/{id}/captions/{language}', {
            ...options,
            params: { path: { id: videoId, language } },
            parseAs: 'text',
          }),
        ),
      /**
       * Deletes the captions of a language, and withdraws requests to make them; `und` stands for one whose language is to be detected.
       */
      delete: (videoId: string, language: string, options?: CallOptions): Promise<undefined> =>
        unwrap(
          api.DELETE('/videos/{id}/captions/{language}', {
            ...options,
            params: { path: { id: videoId, language } },
          }),
        ),
    },
    chapters: {
      /** Replaces all chapters: a list in any order, or a WebVTT file. */
      set: (
        videoId: string,
        chapters: readonly Schemas['Chapter'][] | string,
        options?: CallOptions,
      ): Promise<Schemas['Chapters']> => {
        const params = { path: { id: videoId } };
        if (typeof chapters !== 'string') {
          const body = { chapters: [...chapters] };
          return unwrap(api.PUT('/videos/{id}/chapters', { ...options, params, body }));
        }
        return unwrap(
          api.PUT('/videos/{id}/chapters', {
            ...options,
            params,
            body: chapters,
            headers: { 'Content-Type': 'text/vtt' },
          }),
        );
      },
      get: (videoId: string, options?: CallOptions): Promise<Schemas['Chapters']> =>
        unwrap(api.GET('/videos/{id}/chapters', { ...options, params: { path: { id: videoId } } })),
      /** The chapters as a WebVTT file. */
      getWebVtt: (videoId: string, options?: CallOptions): Promise<string> =>
        unwrap(
          api.GET('/videos/{id}/chapters.vtt', {
            ...options,
            params: { path: { id: videoId } },
            parseAs: 'text',
          }),
        ),
      delete: (videoId: string, options?: CallOptions): Promise<undefined> =>
        unwrap(
          api.DELETE('/videos/{id}/chapters', {
            ...options,
            params: { path: { id: videoId } },
          }),
        ),
    },
    events: {
      /**
       * One page of events, oldest first. To follow them, begin with `from: 'now'`, and send `nextCursor` of each page as `cursor` of the next
       * call: it gets each event once.
       */
      list: (query: Query<'/events'> = {}, options?: CallOptions): Promise<Schemas['EventPage']> =>
        unwrap(api.GET('/events', { ...options, params: { query } })),
    },
    webhooks: {
      /** Registers an endpoint. Store the `secret` of the result. */
      create: (
        body: Partial<Schemas['NewWebhook']> & { url: string },
        options?: CallOptions,
      ): Promise<Schemas['WebhookWithSecret']> => unwrap(api.POST('/webhooks', { ...options, body })),
      get: (id: string, options?: CallOptions): Promise<Schemas['Webhook']> =>
        unwrap(api.GET('/webhooks/{id}', { ...options, params: { path: { id } } })),
      list: (
        query: Query<'/webhooks'> = {},
        options?: CallOptions,
      ): AsyncGenerator<Schemas['Webhook'], void> =>
        listAll((position) =>
          api.GET('/webhooks', { ...options, params: { query: { ...query, ...position } } }),
        ),
      update: (
        id: string,
        body: Schemas['WebhookPatch'],
        options?: CallOptions,
      ): Promise<Schemas['Webhook']> =>
        unwrap(api.PATCH('/webhooks/{id}', { ...options, params: { path: { id } }, body })),
      delete: (id: string, options?: CallOptions): Promise<undefined> =>
        unwrap(api.DELETE('/webhooks/{id}', { ...options, params: { path: { id } } })),
      /** Creates a new `secret`. For 24 hours, events are signed with the old one, too. */
      rotateSecret: (id: string, options?: CallOptions): Promise<Schemas['RotatedWebhook']> =>
        unwrap(api.POST('/webhooks/{id}/rotate-secret', { ...options, params: { path: { id } } })),
      /** Sends a `webhook.test` event. */
      test: (id: string, options?: CallOptions): Promise<Schemas['WebhookDelivery']> =>
        unwrap(api.POST('/webhooks/{id}/test', { ...options, params: { path: { id } } })),
      listDeliveries: (
        id: string,
        query: Query<'/webhooks/{id}/deliveries'> = {},
        options?: CallOptions,
      ): AsyncGenerator<Schemas['WebhookDelivery'], void> =>
        listAll((position) =>
          api.GET('/webhooks/{id}/deliveries', {
            ...options,
            params: { path: { id }, query: { ...query, ...position } },
          }),
        ),
      /** A delivery with what its attempts sent and received. */
      getDelivery: (
        id: string,
        deliveryId: string,
        options?: CallOptions,
      ): Promise<Schemas['WebhookDeliveryDetails']> =>
        unwrap(
          api.GET('/webhooks/{id}/deliveries/{deliveryId}', {
            ...options,
            params: { path: { id, deliveryId } },
          }),
        ),
      /** Sends the event of a delivery again. */
      redeliver: (
        id: string,
        deliveryId: string,
        options?: CallOptions,
      ): Promise<Schemas['WebhookDelivery']> =>
        unwrap(
          api.POST('/webhooks/{id}/deliveries/{deliveryId}/redeliver', {
            ...options,
            params: { path: { id, deliveryId } },
          }),
        ),
    },
    apiKeys: {
      /** Creates a key. Store the `secret` of the result. */
      create: (body: Schemas['ApiKeyRequest'], options?: CallOptions): Promise<Schemas['CreatedApiKey']> =>
        unwrap(api.POST('/api-keys', { ...options, body })),
      list: (
        query: Query<'/api-keys'> = {},
        options?: CallOptions,
      ): AsyncGenerator<Schemas['ApiKey'], void> =>
        listAll((position) =>
          api.GET('/api-keys', { ...options, params: { query: { ...query, ...position } } }),
        ),
      revoke: (id: string, options?: CallOptions): Promise<undefined> =>
        unwrap(api.DELETE('/api-keys/{id}', { ...options, params: { path: { id } } })),
    },
    account: {
      /** The workspace and the permissions of the API key. */
      whoami: (options?: CallOptions): Promise<Schemas['Whoami']> => unwrap(api.GET('/auth/whoami', options)),
      usage: (query: Query<'/auth/usage'> = {}, options?: CallOptions): Promise<Schemas['Usage']> =>
        unwrap(api.GET('/auth/usage', { ...options, params: { query } })),
    },
    analytics: {
      /** What viewers have watched of all videos of the workspace, in one environment. */
      get: (query: Query<'/analytics'> = {}, options?: CallOptions): Promise<Schemas['Analytics']> =>
        unwrap(api.GET('/analytics', { ...options, params: { query } })),
      /** What viewers have watched of a video. */
      getVideo: (
        id: string,
        query: Query<'/analytics/videos/{id}'> = {},
        options?: CallOptions,
      ): Promise<Schemas['Analytics']> =>
        unwrap(api.GET('/analytics/videos/{id}', { ...options, params: { path: { id }, query } })),
    },
    requests: {
      /** The requests of the workspace's keys, newest first. */
      list: (
        query: Query<'/requests'> = {},
        options?: CallOptions,
      ): AsyncGenerator<Schemas['LoggedRequest'], void> =>
        listAll((position) =>
          api.GET('/requests', { ...options, params: { query: { ...query, ...position } } }),
        ),
      /** A request with its headers and bodies, without secrets and texts. */
      get: (id: string, options?: CallOptions): Promise<Schemas['LoggedRequestDetails']> =>
        unwrap(api.GET('/requests/{id}', { ...options, params: { path: { id } } })),
      /** The errors of the workspace's keys in groups, the most frequent first. */
      listErrors: async (
        query: Query<'/request-errors'> = {},
        options?: CallOptions,
      ): Promise<Schemas['RequestError'][]> => {
        const { data } = await unwrap(api.GET('/request-errors', { ...options, params: { query } }));
        return data;
      },
    },
    auditEvents: {
      /** Who changed what in the workspace, newest first. */
      list: (
        query: Query<'/audit-events'> = {},
        options?: CallOptions,
      ): AsyncGenerator<Schemas['AuditEvent'], void> =>
        listAll((position) =>
          api.GET('/audit-events', { ...options, params: { query: { ...query, ...position } } }),
        ),
      /** The changes as a CSV file, at most 100,000. */
      exportCsv: (query: Query<'/audit-events/csv'> = {}, options?: CallOptions): Promise<string> =>
        unwrap(api.GET('/audit-events/csv', { ...options, params: { query }, parseAs: 'text' })),
    },
  };
}
