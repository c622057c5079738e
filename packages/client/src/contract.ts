import type { components, paths, webhooks } from '#openapi';

/** The schemas of the contract, e.g. `Schemas['Webhook']`. */
export type Schemas = components['schemas'];

export type Problem = Schemas['Problem'];
export type Video = Schemas['Video'];
export type UploadTicketRequest = Schemas['UploadTicketRequest'];
export type ImportRequest = Schemas['ImportRequest'];
export type UploadTicket = Schemas['UploadTicket'];
export type UploadReceipt = Schemas['UploadReceipt'];

/** A video that can be played: `hls`, `variants`, `renditions` and `audioTracks` are present. */
export type ReadyVideo = Video &
  Required<Pick<Video, 'hls' | 'variants' | 'renditions' | 'audioTracks'>> & { status: 'ready' };

/** Webhook events, distinguished by `type`. New types can appear: ignore those that you do not know. */
export type WebhookEvent =
  | (Message<'video.ready'> & { data: ReadyVideo })
  | Message<Exclude<keyof webhooks, 'video.ready'>>;

type Message<Type extends keyof webhooks> =
  webhooks[Type]['post']['requestBody']['content']['application/json'];

/**
 * The paths of the control plane. Headers are optional, because the client sets the required ones. The excluded paths belong to
 * the engine.
 */
export type Paths = {
  [Path in Exclude<keyof paths, '/upload' | `/files${string}`>]: {
    [Method in keyof paths[Path]]: WithOptionalHeaders<paths[Path][Method]>;
  };
};

type WithOptionalHeaders<Operation> = Operation extends { parameters: { header?: infer Headers } }
  ? Omit<Operation, 'parameters'> & {
      parameters: Omit<Operation['parameters'], 'header'> & { header?: Partial<Headers> };
    }
  : Operation;
