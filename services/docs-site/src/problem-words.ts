import type { ProblemCode } from '@framelane/contracts/problem-codes';

/** Whether the same request can succeed later. */
export type Retry =
  /** Yes, without a change of the request. */
  | 'later'
  /** Not before the client has changed the request or something that it depends on. */
  | 'after-change'
  /** What the client wanted has happened, or cannot happen any more. */
  | 'no';

/** What people need to know about a problem beside its title. */
export type ProblemWords = {
  /** When it happens. */
  when: string;
  /** What to do about it. */
  action: string;
  retry: Retry;
  /** Name of the guide that says more. */
  guide?: string;
};

const later = (when: string, action: string, guide?: string) => words('later', when, action, guide);
const afterChange = (when: string, action: string, guide?: string) =>
  words('after-change', when, action, guide);
const no = (when: string, action: string, guide?: string) => words('no', when, action, guide);

function words(retry: Retry, when: string, action: string, guide: string | undefined): ProblemWords {
  return { when, action, retry, ...(guide !== undefined && { guide }) };
}

/** The words about every problem code. Links are names of pages of the site. */
export const PROBLEM_WORDS: Readonly<Record<ProblemCode, ProblemWords>> = {
  route_not_found: afterChange(
    'No operation has this method and path.',
    'Compare the path with the list of operations. Paths of the API begin with `/v1`; those of uploads belong to the engine, at `uploadUrl` of the ticket.',
    'api',
  ),
  method_not_allowed: afterChange(
    'The path exists, but not with this method.',
    'Use a method in the header `Allow` of the response.',
    'api',
  ),
  rate_limited: later(
    'The API key, the session or the network address has sent more requests in a minute than it may.',
    'Wait for as many seconds as the header `Retry-After` says. Send fewer requests: use webhooks instead of polling.',
    'limits',
  ),
  internal_error: later(
    'Framelane has a defect, or something failed that it did not expect. The cause is only in its log.',
    'Retry a few times, with growing pauses and an `Idempotency-Key`. If it goes on, report it to the operator with the `requestId`.',
    'troubleshooting',
  ),
  unavailable: later(
    'Something that Framelane needs is not reachable now, such as its database or storage, or the result is not ready yet.',
    'Wait for as many seconds as the header `Retry-After` says, and send the same request again. An upload token stays valid.',
    'reliability',
  ),

  validation_failed: afterChange(
    'The request breaks the contract. `errors` has each field, the broken rule and the rule in words.',
    'Correct the fields in `errors`. Afterwards, others can appear.',
    'api',
  ),
  unknown_field: afterChange(
    'The body or the query has a field that the operation does not know. The detail names the nearest known field.',
    'Correct the spelling, or leave the field out.',
    'api',
  ),
  invalid_json: afterChange(
    'The body is not valid JSON, or not a JSON object.',
    'Send a JSON object in UTF-8. In a shell, check the quotes around the body.',
  ),
  json_too_deep: afterChange(
    'Objects and lists of the body are nested more than 20 levels deep.',
    'Send a flatter body.',
    'limits',
  ),
  incomplete_body: later(
    'The connection ended before the whole body had arrived.',
    'Send the request again. Check proxies with a time limit or a size limit on the way.',
  ),
  body_too_large: afterChange(
    'The body is larger than the operation accepts. The detail has the limit.',
    'Send a smaller body. Video files are not sent to the API: upload them to the engine.',
    'limits',
  ),
  unsupported_media_type: afterChange(
    'The header `Content-Type` names a format that the operation does not accept.',
    'Set the `Content-Type` that the detail names.',
  ),

  missing_api_key: afterChange(
    'The request has no API key.',
    'Send `Authorization: Bearer <API_KEY>`.',
    'keys-and-permissions',
  ),
  invalid_api_key: afterChange(
    'No API key has this secret.',
    'Check that the whole secret was copied, and that it belongs to this installation.',
    'keys-and-permissions',
  ),
  revoked_api_key: afterChange(
    'The API key was revoked.',
    'Create a new key, and use it.',
    'keys-and-permissions',
  ),
  expired_api_key: afterChange(
    'The time in `expiresAt` of the API key has passed.',
    'Create a new key, and use it. A key cannot be extended.',
    'keys-and-permissions',
  ),
  console_code_invalid: afterChange(
    'A sign-in link to the console works once and for ten minutes. This one was used, has expired or never existed.',
    'Create a new link with `admin console-link`.',
    'console',
  ),
  console_session_missing: afterChange('The browser has no session.', 'Sign in to the console.', 'console'),
  console_session_invalid: afterChange(
    'The session has expired, was ended or never existed.',
    'Sign in to the console again.',
    'console',
  ),
  console_session_not_found: no(
    'The workspace has no session with this id. It may have ended already.',
    'List the sessions to see those that exist.',
    'console',
  ),
  csrf_check_failed: afterChange(
    'A request with the cookie of a session lacks the `X-Framelane-CSRF` of this session, or comes from another site.',
    'Open the console at `PUBLIC_URL`. Programs use an API key instead of a session.',
    'console',
  ),
  workspace_header_missing: afterChange(
    'The request does not say which workspace it is for.',
    'Send the id of the workspace in the header `X-Svc-Workspace`. `GET /v1/auth/whoami` shows the workspace of a key.',
    'keys-and-permissions',
  ),
  workspace_mismatch: afterChange(
    'The API key or the session belongs to another workspace than the request.',
    'Send the id of the workspace of the key, or use a key of the other workspace.',
    'keys-and-permissions',
  ),
  environment_mismatch: afterChange(
    'The session is not for the environment in the header `X-Framelane-Environment`.',
    'Switch between live and test in the console, which sends the header.',
    'console',
  ),
  insufficient_permissions: afterChange(
    'The API key or the session lacks the permission that the operation needs. The detail names it.',
    'Use a key with this permission, or create one.',
    'keys-and-permissions',
  ),
  permission_escalation: afterChange(
    'A key or a session would give a new key more than it has: a permission, or a later expiry.',
    'Ask for less, or use a key that has these rights.',
    'keys-and-permissions',
  ),
  api_key_not_found: no(
    'The workspace has no unrevoked key with this id.',
    'List the keys. A revoked key needs no second revocation.',
    'keys-and-permissions',
  ),
  last_admin_key: afterChange(
    'Without this key, no key of the workspace could manage keys.',
    'Create a key with every permission and the same or a later expiry first.',
    'keys-and-permissions',
  ),
  quota_exceeded: afterChange(
    'The workspace would exceed a quota. `quota`, `limit`, `used` and `requested` say which and by how much.',
    'Delete videos, wait for the next month if the quota is per month, or ask the operator for a higher one.',
    'quotas',
  ),

  idempotency_key_in_use: later(
    'A request with the same `Idempotency-Key` has not ended yet.',
    'Send the same request again after a second. It then gets the response of the first one.',
    'idempotency',
  ),
  idempotency_key_reused: afterChange(
    'The `Idempotency-Key` was used for a request with another body or environment.',
    'Use a new key for each new request, and the same key only to repeat one.',
    'idempotency',
  ),

  video_not_found: no(
    'The workspace has no video with this id, or it was deleted.',
    'Check the id and the workspace of the key.',
    'deletion',
  ),
  video_failed: afterChange(
    'The operation needs a video that is or becomes ready, and this one has failed.',
    'If `retryable` of its record is true, retry the video; else upload the file again.',
    'inputs',
  ),
  video_not_failed: no('Only a failed video can be retried.', 'Get the video to see its status.', 'inputs'),
  source_not_available: no(
    'The uploaded file is needed, and is no longer stored.',
    'Upload the file again with a new ticket.',
    'sources',
  ),
  source_not_found: no(
    'The uploaded file of the video was deleted, or has never arrived.',
    'Nothing can bring it back. Keep your own copy of files that you need later.',
    'sources',
  ),
  source_in_use: later(
    'The uploaded file cannot be deleted while the video is made from it.',
    'Delete it when the video is ready or has failed. A webhook reports both.',
    'sources',
  ),

  invalid_captions: afterChange(
    'The file is neither WebVTT nor SubRip, or one of its lines breaks the format. The detail names the line.',
    'Correct the file.',
    'captions',
  ),
  captions_not_found: no(
    'The video has no captions in this language.',
    'List the captions of the video.',
    'captions',
  ),
  captions_limit_reached: afterChange(
    'The video has captions in as many languages as a video can have.',
    'Delete those of another language first.',
    'captions',
  ),
  auto_captions_not_configured: no(
    'The installation has no recogniser of speech.',
    'Upload captions of your own, or ask the operator to configure a recogniser.',
    'captions',
  ),
  audio_not_available: afterChange(
    'The video has no audio in this language. The detail lists those that it has.',
    'Ask for a language that the video has.',
    'captions',
  ),
  captions_exist: afterChange(
    'A person has written captions in this language, and a machine does not replace them.',
    'Delete them first if a machine shall make new ones.',
    'captions',
  ),

  invalid_chapters: afterChange(
    'The chapters break a rule of their format. The detail says which and where.',
    'Correct the list or the file.',
    'chapters',
  ),
  chapters_not_found: no('The video has no chapters.', 'Set chapters first.', 'chapters'),

  invalid_poster: afterChange(
    'The file is not a JPEG image that can be a poster.',
    'Send a whole JPEG image with fewer pixels.',
    'playback',
  ),
  poster_not_found: no(
    'No image was set as the poster, so there is none to delete. The poster is a frame of the video.',
    'To choose another frame, set `posterTime`.',
    'pictures',
  ),

  invalid_watermark: afterChange(
    'The file is neither a PNG nor a JPEG image that can be a watermark.',
    'Send another image.',
    'watermarks',
  ),
  watermark_not_found: afterChange(
    'The workspace has no watermark image with this id.',
    'List the images, or upload one.',
    'watermarks',
  ),
  watermark_limit_reached: afterChange(
    'The workspace has as many watermark images as it can have. Deleted ones count while a video still needs them.',
    'Delete an image that no unfinished video has.',
    'watermarks',
  ),

  rendition_not_available: afterChange(
    'The video has no rendition of this quality. The detail lists those that it has.',
    'Ask for one of these, or for `highest`.',
    'downloads',
  ),
  download_not_found: afterChange(
    'The file was not prepared, or was deleted.',
    'Prepare it with `POST /v1/videos/{id}/downloads`.',
    'downloads',
  ),
  downloads_not_allowed: afterChange(
    'The playback token allows to play the video, but not to download it.',
    'Create a token with `allowDownloads`.',
    'downloads',
  ),

  video_not_ready: later(
    'The operation needs a video that is ready.',
    'Wait for the event `video.ready`, then send the request again.',
    'clips',
  ),

  upload_ticket_closed: no(
    'A replayed request would get a new token, but the upload of its ticket has ended.',
    'Get the video in `videoId` to see its status. For another file, request a new ticket.',
    'uploads',
  ),
  upload_token_missing: afterChange(
    'The upload has no token.',
    'Send `uploadToken` of the ticket in the header `X-Upload-Token`.',
    'uploads',
  ),
  upload_token_invalid: afterChange('No ticket has this token.', 'Request a new upload ticket.', 'uploads'),
  upload_token_expired: afterChange(
    'The time in `expiresAt` of the ticket has passed.',
    'Request a new upload ticket.',
    'uploads',
  ),
  upload_token_exhausted: afterChange(
    'Too many resumable uploads were created with this token.',
    'Request a new upload ticket. To continue an upload, keep its URL instead of creating another one.',
    'uploads',
  ),
  upload_token_used: no(
    'The file of this ticket has arrived.',
    'Get the video to see its status. For another file, request a new ticket.',
    'uploads',
  ),
  upload_in_progress: later(
    'Another upload with the same token has not ended.',
    'Wait until it has ended, or request a new ticket.',
    'uploads',
  ),
  upload_cancelled: no(
    'During the upload the video was deleted, the ticket expired, or another upload took it.',
    'Request a new ticket if the file shall still be uploaded.',
    'uploads',
  ),
  upload_interrupted: later(
    'The client has closed the connection before the file was complete. Only the log of the engine has this code.',
    'Send the file again. For large files and bad networks, use a resumable upload.',
    'uploads',
  ),
  upload_timeout: later(
    'The file arrived too slowly, or not at all for too long.',
    'Send the file again; the token stays valid. On a slow network, use a resumable upload.',
    'uploads',
  ),
  too_many_uploads: later(
    'The workspace has as many uploads, or as many bytes of uploads, in progress as it may have.',
    'Send the file again when another upload has ended; the token stays valid.',
    'limits',
  ),
  malformed_multipart: afterChange(
    'The body is not a valid form with a file.',
    'Let the HTTP library build the form, and set no `Content-Type` yourself.',
    'uploads',
  ),
  file_missing: afterChange(
    'The form has no part with a file.',
    'Send one file part with a filename.',
    'uploads',
  ),
  file_empty: afterChange(
    'The file has no content.',
    'Send a file with content; the token stays valid.',
    'uploads',
  ),
  multiple_files: afterChange(
    'The form has more than one file.',
    'Request a ticket for each file.',
    'uploads',
  ),
  file_too_large: afterChange(
    'The file is larger than the ticket or the installation allows. `maxBytes` has the limit.',
    'Send a smaller file, or ask the operator for a higher limit.',
    'limits',
  ),
  tus_version_unsupported: afterChange(
    'A resumable upload uses another version of tus, or none.',
    'Send `Tus-Resumable: 1.0.0`, as clients of tus 1.0 do.',
    'uploads',
  ),
  upload_not_found: afterChange(
    'The token has no resumable upload with this URL.',
    'Create a new upload with the token.',
    'uploads',
  ),
  upload_ended: afterChange(
    'The resumable upload was terminated or replaced, or its ticket has expired.',
    'Create a new upload. If the ticket has expired, request a new one first.',
    'uploads',
  ),
  upload_complete: no(
    'The file has arrived, so its upload can no longer be deleted.',
    'Delete the video instead.',
    'uploads',
  ),
  upload_offset_mismatch: afterChange(
    'The part does not begin where the upload continues. `offset` has the byte, if the engine knows it.',
    'Send a HEAD request to get the offset, and continue there. Clients of tus do this by themselves.',
    'uploads',
  ),
  upload_locked: later(
    'Another request for the same upload has not ended. The response to a HEAD request has no body, so only its status 423 shows this.',
    'Retry after a short pause. Clients of tus do this by themselves.',
    'uploads',
  ),
  checksum_mismatch: later(
    'The part does not match its `Upload-Checksum`, so it was discarded.',
    'Send the part again from the same offset.',
    'uploads',
  ),
  insufficient_storage: later(
    'The storage has too little free space for the file.',
    'Retry later, and tell the operator.',
    'troubleshooting',
  ),

  playback_token_required: afterChange(
    'The video is signed, and the request has no playback token.',
    'Create a playback token on your server, and add it to the URL as `?token=`.',
    'playback',
  ),
  playback_token_invalid: afterChange(
    'The playback token was not made for this video, or has been changed.',
    'Create a new playback token for this video.',
    'playback',
  ),
  playback_token_expired: afterChange(
    'The time of the playback token has passed.',
    'Create a new playback token. Choose a time that is longer than the video.',
    'playback',
  ),
  format_not_supported: afterChange(
    'oEmbed was asked for another format than JSON.',
    'Leave `format` out, or set it to `json`.',
    'embed',
  ),

  webhook_not_found: no('The workspace has no webhook with this id.', 'List the webhooks.', 'webhooks'),
  webhook_disabled: afterChange(
    'The webhook is disabled, so nothing is sent to it.',
    'Repair the receiver, then enable the webhook.',
    'webhooks',
  ),
  webhook_limit_reached: afterChange(
    'The workspace has as many webhooks as it can have.',
    'Delete one first, or let one receiver distribute the events.',
    'webhooks',
  ),
  request_not_found: no(
    'The request log has no entry with this id. It keeps requests for 7 days, and at most 10,000 of a workspace.',
    'List the requests.',
    'requests',
  ),
  delivery_not_found: no(
    'The webhook has no delivery with this id. Deliveries are kept for a limited time.',
    'List the deliveries of the webhook.',
    'webhooks',
  ),

  invalid_service_secret: afterChange(
    'An engine has called the internal API of a control plane with another `SERVICE_SECRET`. Clients of the API never get this code.',
    'Set the same `SERVICE_SECRET` for all engines and control planes.',
    'configuration',
  ),
  transfer_lost: no(
    'An engine has reported about an upload that another transfer has taken over. Clients of the API never get this code.',
    'Nothing: the engine ends the transfer by itself.',
    'architecture',
  ),
  plan_not_current: no(
    'An engine has reported about an attempt at a video that has ended. Clients of the API never get this code.',
    'Nothing: the engine drops the work by itself.',
    'architecture',
  ),
  task_not_claimable: no(
    'An engine has asked for a task that another one has, or that has ended. Clients of the API never get this code.',
    'Nothing: the engine drops the command by itself.',
    'architecture',
  ),
};
