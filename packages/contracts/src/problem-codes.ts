/** Every problem code with its HTTP status and title (RFC 9457). */
export const PROBLEMS = {
  // Any request
  route_not_found: { status: 404, title: 'No Such Route' },
  method_not_allowed: { status: 405, title: 'Method Not Allowed' },
  rate_limited: { status: 429, title: 'Rate Limit Exceeded' },
  internal_error: { status: 500, title: 'Internal Server Error' },
  unavailable: { status: 503, title: 'Service Unavailable' },

  // Request bodies and parameters
  validation_failed: { status: 400, title: 'Invalid Request' },
  unknown_field: { status: 400, title: 'Unknown Field' },
  invalid_json: { status: 400, title: 'Invalid JSON' },
  json_too_deep: { status: 400, title: 'JSON Nested Too Deep' },
  incomplete_body: { status: 400, title: 'Incomplete Body' },
  body_too_large: { status: 413, title: 'Body Too Large' },
  unsupported_media_type: { status: 415, title: 'Unsupported Media Type' },

  // Keys, console sessions and workspaces
  missing_api_key: { status: 401, title: 'API Key Missing' },
  invalid_api_key: { status: 401, title: 'API Key Invalid' },
  revoked_api_key: { status: 401, title: 'API Key Revoked' },
  expired_api_key: { status: 401, title: 'API Key Expired' },
  console_code_invalid: { status: 401, title: 'Console Code Invalid' },
  console_session_missing: { status: 401, title: 'Console Session Missing' },
  console_session_invalid: { status: 401, title: 'Console Session Invalid' },
  console_session_not_found: { status: 404, title: 'Console Session Not Found' },
  csrf_check_failed: { status: 403, title: 'CSRF Check Failed' },
  workspace_header_missing: { status: 400, title: 'Workspace Header Missing' },
  workspace_mismatch: { status: 403, title: 'Wrong Workspace' },
  environment_mismatch: { status: 403, title: 'Wrong Environment' },
  insufficient_permissions: { status: 403, title: 'Insufficient Permissions' },
  permission_escalation: { status: 403, title: 'Permission Escalation' },
  api_key_not_found: { status: 404, title: 'API Key Not Found' },
  last_admin_key: { status: 409, title: 'Last Admin Key' },
  quota_exceeded: { status: 403, title: 'Quota Exceeded' },

  // Idempotency keys
  idempotency_key_in_use: { status: 409, title: 'Idempotency Key In Use' },
  idempotency_key_reused: { status: 422, title: 'Idempotency Key Reused' },

  // Videos
  video_not_found: { status: 404, title: 'Video Not Found' },
  video_failed: { status: 409, title: 'Video Failed' },
  video_not_failed: { status: 409, title: 'Video Not Failed' },
  source_not_available: { status: 409, title: 'Source File Missing' },
  source_not_found: { status: 404, title: 'Source Not Found' },
  source_in_use: { status: 409, title: 'Source In Use' },

  // Captions
  invalid_captions: { status: 400, title: 'Captions Invalid' },
  captions_not_found: { status: 404, title: 'Captions Not Found' },
  captions_limit_reached: { status: 409, title: 'Captions Limit Reached' },
  auto_captions_not_configured: { status: 409, title: 'Automatic Captions Not Configured' },
  audio_not_available: { status: 409, title: 'Audio Not Available' },
  captions_exist: { status: 409, title: 'Captions Exist' },

  // Chapters
  invalid_chapters: { status: 400, title: 'Chapters Invalid' },
  chapters_not_found: { status: 404, title: 'Chapters Not Found' },

  // Posters
  invalid_poster: { status: 400, title: 'Poster Invalid' },
  poster_not_found: { status: 404, title: 'Poster Not Found' },

  // Watermarks
  invalid_watermark: { status: 400, title: 'Watermark Invalid' },
  watermark_not_found: { status: 404, title: 'Watermark Not Found' },
  watermark_limit_reached: { status: 409, title: 'Watermark Limit Reached' },

  // Downloads
  rendition_not_available: { status: 409, title: 'Rendition Not Available' },
  download_not_found: { status: 404, title: 'Download Not Found' },
  downloads_not_allowed: { status: 403, title: 'Downloads Not Allowed' },

  // Clips
  video_not_ready: { status: 409, title: 'Video Not Ready' },

  // Upload tickets and uploads
  upload_ticket_closed: { status: 409, title: 'Upload Ticket Closed' },
  upload_token_missing: { status: 401, title: 'Upload Token Missing' },
  upload_token_invalid: { status: 401, title: 'Upload Token Invalid' },
  upload_token_expired: { status: 401, title: 'Upload Token Expired' },
  upload_token_exhausted: { status: 403, title: 'Upload Token Exhausted' },
  upload_token_used: { status: 401, title: 'Upload Token Used' },
  upload_in_progress: { status: 409, title: 'Upload In Progress' },
  upload_cancelled: { status: 409, title: 'Upload Cancelled' },
  upload_interrupted: { status: 400, title: 'Upload Interrupted' },
  upload_timeout: { status: 408, title: 'Upload Timed Out' },
  too_many_uploads: { status: 429, title: 'Too Many Uploads' },
  malformed_multipart: { status: 400, title: 'Malformed Multipart Body' },
  file_missing: { status: 400, title: 'File Missing' },
  file_empty: { status: 400, title: 'File Empty' },
  multiple_files: { status: 400, title: 'Multiple Files' },
  file_too_large: { status: 413, title: 'File Too Large' },
  tus_version_unsupported: { status: 412, title: 'Tus Version Not Supported' },
  upload_not_found: { status: 404, title: 'Upload Not Found' },
  upload_ended: { status: 410, title: 'Upload Ended' },
  upload_complete: { status: 403, title: 'Upload Complete' },
  upload_offset_mismatch: { status: 409, title: 'Upload Offset Mismatch' },
  upload_locked: { status: 423, title: 'Upload Locked' },
  checksum_mismatch: { status: 460, title: 'Checksum Mismatch' },
  insufficient_storage: { status: 507, title: 'Insufficient Storage' },

  // Playback
  playback_token_required: { status: 401, title: 'Playback Token Required' },
  playback_token_invalid: { status: 403, title: 'Playback Token Invalid' },
  playback_token_expired: { status: 403, title: 'Playback Token Expired' },
  format_not_supported: { status: 501, title: 'Format Not Supported' },

  // Webhooks
  webhook_not_found: { status: 404, title: 'Webhook Not Found' },
  webhook_disabled: { status: 409, title: 'Webhook Disabled' },
  webhook_limit_reached: { status: 409, title: 'Webhook Limit Reached' },
  request_not_found: { status: 404, title: 'Request Not Found' },
  delivery_not_found: { status: 404, title: 'Delivery Not Found' },

  // The internal API
  invalid_service_secret: { status: 401, title: 'Service Secret Invalid' },
  transfer_lost: { status: 409, title: 'Transfer Lost' },
  plan_not_current: { status: 409, title: 'Plan Not Current' },
  task_not_claimable: { status: 409, title: 'Task Not Claimable' },
} as const satisfies Record<string, { status: number; title: string }>;

/** Identifies the kind of a problem for programs. Stable, snake_case. */
export type ProblemCode = keyof typeof PROBLEMS;
