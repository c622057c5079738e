// biome-ignore-all lint/performance/noBarrelFile: an entry point of a published package re-exports the public names.
import { define } from './element-base.ts';
import { FramelaneUploaderElement } from './uploader/uploader-element.ts';

define('framelane-uploader', FramelaneUploaderElement);

export type { Ticket, TicketRequest } from './uploader/request-ticket.ts';
export {
  FramelaneUploaderElement,
  type UploadCancel,
  type UploadComplete,
  type UploaderEventMap,
  type UploadFailure,
  type UploadProgress,
} from './uploader/uploader-element.ts';
export { DEFAULT_WORDS, type Words } from './uploader/words.ts';
