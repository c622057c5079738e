// biome-ignore-all lint/performance/noBarrelFile: an entry point of a published package re-exports the public names.
export { type ClientOptions, createClient, type FramelaneClient, type SessionScope } from './client.ts';
export type {
  ImportRequest,
  Problem,
  ReadyVideo,
  Schemas,
  UploadReceipt,
  UploadTicket,
  UploadTicketRequest,
  Video,
  WebhookEvent,
} from './contract.ts';
export {
  ApiError,
  ConnectionError,
  FramelaneError,
  unwrap,
  VideoFailedError,
} from './framelane-error.ts';
export type { CallOptions } from './operations.ts';
export {
  type PreviewOptions,
  previewUrl,
  type ThumbnailOptions,
  thumbnailUrl,
} from './picture-urls.ts';
export type { Resources, SourceOptions } from './resources.ts';
export type { RetryOptions } from './retries.ts';
export { verifyWebhook, type WebhookHeaders } from './verify-webhook.ts';
export type { WaitOptions } from './wait-until-ready.ts';
