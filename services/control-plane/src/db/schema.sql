CREATE OR REPLACE FUNCTION public.new_audit_event_id()
 RETURNS text
 LANGUAGE sql
AS $function$
    with random as (
      select overlay(
        uuid_send(gen_random_uuid())
        placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6
      ) as bytes
    ), bits as (
      select b'00' || ('x' || encode(set_bit(set_bit(bytes, 52, 1), 53, 1), 'hex'))::bit(128) as bits from random
    )
    select 'aud_' || string_agg(
      substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + substring(bits from 1 + 5 * place for 5)::bit(5)::int, 1),
      '' order by place
    )
    from bits, generate_series(0, 25) as place
  $function$
;

CREATE OR REPLACE FUNCTION public.place_event()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
  begin
    perform pg_advisory_xact_lock(hashtextextended('events of ' || new.workspace_id, 0));
    update webhook_events
    set position = greatest(
      (select max(position) from webhook_events where workspace_id = new.workspace_id) + 1,
      (extract(epoch from clock_timestamp()) * 1000000)::bigint
    )
    where id = new.id;
    return null;
  end $function$
;

CREATE OR REPLACE FUNCTION public.record_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
  declare
    actor jsonb := current_setting('framelane.actor')::jsonb;
    valued text[] := string_to_array(tg_argv[4], ',');
    audited text[] := string_to_array(tg_argv[3], ',') || valued;
    old_row jsonb;
    new_row jsonb;
    known jsonb;
    changed text[] := '{}';
    new_values jsonb := '{}';
    done text := case tg_op when 'INSERT' then 'created' when 'DELETE' then 'deleted' else 'updated' end;
    workspace text;
  begin
    if tg_op <> 'INSERT' then old_row := to_jsonb(old); end if;
    if tg_op <> 'DELETE' then new_row := to_jsonb(new); end if;
    known := coalesce(new_row, old_row);
    if tg_op = 'UPDATE' then
      select coalesce(array_agg(name order by name), '{}') into changed
      from unnest(audited) as name where new_row -> name is distinct from old_row -> name;
      if changed = '{}' then return null; end if;
      if changed && array['deleted_at', 'revoked_at'] then
        done := 'deleted';
        changed := '{}';
      end if;
    end if;
    if tg_op <> 'UPDATE' or changed <> '{}' then
      select coalesce(jsonb_object_agg(name, jsonb_build_array(old_row -> name, new_row -> name)), '{}') into new_values
      from unnest(valued) as name
      where coalesce(new_row -> name, 'null') is distinct from coalesce(old_row -> name, 'null');
    end if;
    workspace := coalesce(
      known ->> 'workspace_id',
      case when tg_table_name = 'workspaces' then known ->> 'id' end,
      (select workspace_id from videos where id = known ->> 'video_id')
    );
    insert into audit_events (
      id, workspace_id, actor_type, actor_id, actor_name, operation, request_id,
      action, resource_type, resource_id, resource_part, fields, changes, created_at
    ) values (
      new_audit_event_id(), workspace, actor ->> 'type', actor ->> 'id', actor ->> 'name', actor ->> 'operation',
      actor ->> 'requestId', done, tg_argv[0], known ->> tg_argv[1], known ->> nullif(tg_argv[2], ''), changed,
      new_values, clock_timestamp()
    );
    return null;
  end $function$
;

CREATE OR REPLACE FUNCTION public.refuse_change_of_audit()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
  begin
    if tg_op = 'DELETE' and old.created_at < now() - interval '90 days' then return old; end if;
    raise exception 'Audit events cannot be changed, and not deleted within 90 days' using errcode = 'insufficient_privilege';
  end $function$
;

create table api_keys (
  id text not null,
  workspace_id text not null,
  name text not null,
  secret_hash bytea not null,
  prefix text not null,
  last4 text not null,
  environment text not null,
  permissions text[] not null,
  created_by text,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone,
  revoked_at timestamp(3) with time zone,
  last_used_at timestamp(3) with time zone,
  constraint api_keys_secret_hash_key UNIQUE (secret_hash),
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_created_by_fkey FOREIGN KEY (created_by) REFERENCES api_keys(id),
  constraint api_keys_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint api_keys_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'test'::text])))
);
CREATE INDEX api_keys_by_workspace ON public.api_keys USING btree (workspace_id, created_at DESC, id DESC);
CREATE TRIGGER record_change AFTER INSERT OR DELETE OR UPDATE ON public.api_keys FOR EACH ROW WHEN ((COALESCE(current_setting('framelane.actor'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION record_change('api_key', 'id', '', 'revoked_at', 'environment,permissions,expires_at');

create table artifacts (
  video_id text not null,
  kind text not null,
  name text not null default ''::text,
  first_segment integer not null default 0,
  attempt integer,
  folder text,
  bytes bigint not null,
  constraint artifacts_pkey PRIMARY KEY (video_id, kind, name, first_segment),
  constraint artifacts_video_id_fkey FOREIGN KEY (video_id) REFERENCES videos(id),
  constraint artifacts_bytes_check CHECK ((bytes > 0)),
  constraint output_has_a_folder CHECK (((attempt IS NULL) OR (folder IS NOT NULL)))
);

create table attempts (
  video_id text not null,
  number integer not null,
  due_at timestamp(3) with time zone not null,
  started_at timestamp(3) with time zone,
  claim_id text,
  next_task integer not null default 1,
  plan jsonb,
  planned jsonb,
  source_sha256 text,
  outcome text,
  finished_at timestamp(3) with time zone,
  constraint attempts_pkey PRIMARY KEY (video_id, number),
  constraint attempts_video_id_fkey FOREIGN KEY (video_id) REFERENCES videos(id),
  constraint attempts_number_check CHECK ((number > 0)),
  constraint attempts_outcome_check CHECK ((outcome = ANY (ARRAY['completed'::text, 'failed'::text, 'lease_expired'::text, 'handed_back'::text]))),
  constraint finished_has_an_outcome CHECK (((outcome IS NULL) = (finished_at IS NULL))),
  constraint open_plan_is_whole CHECK (((outcome IS NOT NULL) OR ((plan IS NULL) = (planned IS NULL))))
);
CREATE UNIQUE INDEX attempts_open ON public.attempts USING btree (video_id) WHERE (outcome IS NULL);

create table audit_events (
  id text not null,
  workspace_id text not null,
  actor_type text not null,
  actor_id text,
  actor_name text not null,
  operation text not null,
  request_id text,
  action text not null,
  resource_type text not null,
  resource_id text not null,
  resource_part text,
  fields text[] not null,
  changes jsonb not null,
  created_at timestamp(3) with time zone not null,
  constraint audit_events_pkey PRIMARY KEY (id),
  constraint audit_events_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint audit_events_action_check CHECK ((action = ANY (ARRAY['created'::text, 'updated'::text, 'deleted'::text, 'signed_in'::text, 'signed_out'::text, 'refused'::text, 'exported'::text]))),
  constraint audit_events_actor_type_check CHECK ((actor_type = ANY (ARRAY['api_key'::text, 'person'::text, 'link'::text, 'command_line'::text])))
);
CREATE INDEX audit_events_by_action ON public.audit_events USING btree (workspace_id, action, created_at DESC, id DESC);
CREATE INDEX audit_events_by_actor ON public.audit_events USING btree (workspace_id, actor_id, created_at DESC, id DESC);
CREATE INDEX audit_events_by_age ON public.audit_events USING brin (created_at);
CREATE INDEX audit_events_by_resource ON public.audit_events USING btree (workspace_id, resource_id, created_at DESC, id DESC);
CREATE INDEX audit_events_by_type ON public.audit_events USING btree (workspace_id, resource_type, created_at DESC, id DESC);
CREATE INDEX audit_events_by_workspace ON public.audit_events USING btree (workspace_id, created_at DESC, id DESC);
CREATE TRIGGER refuse_change BEFORE DELETE OR UPDATE ON public.audit_events FOR EACH ROW EXECUTE FUNCTION refuse_change_of_audit();
CREATE TRIGGER refuse_truncation BEFORE TRUNCATE ON public.audit_events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_audit();

create table auto_captions (
  video_id text not null,
  requested text not null,
  language text,
  status text not null default 'preparing'::text,
  error_code text,
  error_message text,
  created_at timestamp(3) with time zone not null default now(),
  ready_at timestamp(3) with time zone,
  constraint auto_captions_pkey PRIMARY KEY (video_id, requested),
  constraint auto_captions_video_id_fkey FOREIGN KEY (video_id) REFERENCES videos(id) ON DELETE CASCADE,
  constraint auto_captions_status_check CHECK ((status = ANY (ARRAY['preparing'::text, 'ready'::text, 'failed'::text]))),
  constraint failed_auto_captions_have_a_code CHECK (((status = 'failed'::text) = (error_code IS NOT NULL))),
  constraint ready_auto_captions_have_a_language CHECK ((((status = 'ready'::text) = (ready_at IS NOT NULL)) AND ((status = 'ready'::text) = (language IS NOT NULL))))
);
CREATE TRIGGER record_change AFTER INSERT OR DELETE OR UPDATE ON public.auto_captions FOR EACH ROW WHEN ((COALESCE(current_setting('framelane.actor'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION record_change('auto_captions', 'video_id', 'requested', 'created_at', '');

create table backup_state (
  id boolean not null default true,
  timeline text not null,
  backup_id text,
  snapshot_at timestamp(3) with time zone,
  completed_at timestamp(3) with time zone,
  objects bigint,
  bytes bigint,
  missing bigint,
  constraint backup_state_pkey PRIMARY KEY (id),
  constraint backup_is_complete CHECK ((num_nulls(backup_id, snapshot_at, completed_at, objects, bytes, missing) = ANY (ARRAY[0, 6]))),
  constraint backup_state_id_check CHECK (id)
);

create table captions (
  video_id text not null,
  language text not null,
  label text not null,
  is_default boolean not null,
  origin text not null,
  revision integer not null,
  cue_count integer not null,
  cue_starts bigint[] not null,
  cue_ends bigint[] not null,
  cues text[] not null,
  updated_at timestamp(3) with time zone not null default now(),
  constraint captions_pkey PRIMARY KEY (video_id, language),
  constraint captions_video_id_fkey FOREIGN KEY (video_id) REFERENCES videos(id) ON DELETE CASCADE,
  constraint captions_origin_check CHECK ((origin = ANY (ARRAY['person'::text, 'file'::text, 'machine'::text]))),
  constraint cues_have_times CHECK (((cardinality(cues) = cue_count) AND (cue_count > 0) AND (cardinality(cue_starts) = cue_count) AND (cardinality(cue_ends) = cue_count)))
);
CREATE TRIGGER record_change AFTER INSERT OR DELETE OR UPDATE ON public.captions FOR EACH ROW WHEN ((COALESCE(current_setting('framelane.actor'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION record_change('captions', 'video_id', 'language', 'label,cues,cue_starts,cue_ends', 'is_default');

create table chapters (
  video_id text not null,
  origin text not null,
  starts integer[] not null,
  titles text[] not null,
  updated_at timestamp(3) with time zone not null default now(),
  constraint chapters_pkey PRIMARY KEY (video_id),
  constraint chapters_video_id_fkey FOREIGN KEY (video_id) REFERENCES videos(id) ON DELETE CASCADE,
  constraint chapters_have_titles CHECK (((cardinality(starts) = cardinality(titles)) AND (cardinality(starts) > 0))),
  constraint chapters_origin_check CHECK ((origin = ANY (ARRAY['person'::text, 'file'::text])))
);
CREATE TRIGGER record_change AFTER INSERT OR DELETE OR UPDATE ON public.chapters FOR EACH ROW WHEN ((COALESCE(current_setting('framelane.actor'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION record_change('chapters', 'video_id', '', 'starts,titles', '');

create table clips (
  video_id text not null,
  parent_id text not null,
  first_frame bigint not null,
  frames bigint not null,
  starts_at double precision not null,
  ends_at double precision not null,
  stored_bytes bigint not null,
  disk_bytes bigint not null,
  constraint clips_pkey PRIMARY KEY (video_id),
  constraint clips_video_id_fkey FOREIGN KEY (video_id) REFERENCES videos(id) ON DELETE CASCADE,
  constraint clips_disk_bytes_check CHECK ((disk_bytes > 0)),
  constraint clips_first_frame_check CHECK ((first_frame >= 0)),
  constraint clips_frames_check CHECK ((frames > 0)),
  constraint clips_stored_bytes_check CHECK ((stored_bytes > 0))
);
CREATE INDEX clips_by_parent ON public.clips USING btree (parent_id);

create table console_codes (
  code_hash bytea not null,
  workspace_id text not null,
  name text not null,
  environments text[] not null,
  permissions text[] not null,
  administrator boolean not null,
  expires_at timestamp(3) with time zone not null,
  used_at timestamp(3) with time zone,
  refused_at timestamp(3) with time zone,
  constraint console_codes_pkey PRIMARY KEY (code_hash, workspace_id),
  constraint console_codes_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE INDEX console_codes_by_expiry ON public.console_codes USING btree (expires_at);
CREATE TRIGGER record_change AFTER INSERT OR DELETE OR UPDATE ON public.console_codes FOR EACH ROW WHEN ((COALESCE(current_setting('framelane.actor'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION record_change('sign_in_link', 'name', '', '', 'environments,permissions,administrator');

create table console_people (
  email text not null,
  workspace_id text not null,
  environments text[] not null,
  permissions text[] not null,
  administrator boolean not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint console_people_pkey PRIMARY KEY (email, workspace_id),
  constraint console_people_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE TRIGGER record_change AFTER INSERT OR DELETE OR UPDATE ON public.console_people FOR EACH ROW WHEN ((COALESCE(current_setting('framelane.actor'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION record_change('person', 'email', '', '', 'environments,permissions,administrator');

create table console_sessions (
  id text not null,
  token_hash bytea not null,
  workspace_id text not null,
  name text not null,
  environments text[] not null,
  permissions text[] not null,
  administrator boolean not null,
  person_email text,
  user_agent text,
  created_at timestamp(3) with time zone not null default now(),
  last_seen_at timestamp(3) with time zone not null default now(),
  idle_expires_at timestamp(3) with time zone not null,
  expires_at timestamp(3) with time zone not null,
  constraint console_sessions_token_hash_workspace_id_key UNIQUE (token_hash, workspace_id),
  constraint console_sessions_pkey PRIMARY KEY (id),
  constraint console_sessions_person_fkey FOREIGN KEY (person_email, workspace_id) REFERENCES console_people(email, workspace_id) ON DELETE CASCADE,
  constraint console_sessions_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint idle_expiry_comes_first CHECK ((idle_expires_at <= expires_at))
);
CREATE INDEX console_sessions_by_expiry ON public.console_sessions USING btree (idle_expires_at);
CREATE INDEX console_sessions_by_person ON public.console_sessions USING btree (person_email, workspace_id) WHERE (person_email IS NOT NULL);
CREATE INDEX console_sessions_by_workspace ON public.console_sessions USING btree (workspace_id, created_at DESC, id DESC);
CREATE TRIGGER record_change AFTER INSERT OR DELETE OR UPDATE ON public.console_sessions FOR EACH ROW WHEN ((COALESCE(current_setting('framelane.actor'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION record_change('session', 'id', '', '', '');

create table delivery_attempts (
  delivery_id text not null,
  number integer not null,
  at timestamp(3) with time zone not null,
  duration_ms integer not null,
  response_status integer,
  response_body text,
  request_headers jsonb,
  failure text,
  constraint delivery_attempts_pkey PRIMARY KEY (delivery_id, number),
  constraint delivery_attempts_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES webhook_deliveries(id) ON DELETE CASCADE,
  constraint delivery_attempts_number_check CHECK ((number > 0))
);

create table downloads (
  video_id text not null,
  name text not null,
  status text not null default 'preparing'::text,
  error_code text,
  error_message text,
  created_at timestamp(3) with time zone not null default now(),
  ready_at timestamp(3) with time zone,
  constraint downloads_pkey PRIMARY KEY (video_id, name),
  constraint downloads_video_id_fkey FOREIGN KEY (video_id) REFERENCES videos(id) ON DELETE CASCADE,
  constraint downloads_status_check CHECK ((status = ANY (ARRAY['preparing'::text, 'ready'::text, 'failed'::text]))),
  constraint failed_download_has_a_code CHECK (((status = 'failed'::text) = (error_code IS NOT NULL))),
  constraint ready_download_has_a_time CHECK (((status = 'ready'::text) = (ready_at IS NOT NULL)))
);
CREATE TRIGGER record_change AFTER INSERT OR DELETE OR UPDATE ON public.downloads FOR EACH ROW WHEN ((COALESCE(current_setting('framelane.actor'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION record_change('download', 'video_id', 'name', 'created_at', '');

create table engines (
  id text not null,
  host text not null,
  port integer not null,
  state text not null,
  roles text[] not null,
  version text not null,
  node_version text not null,
  ffmpeg_version text,
  hardware text,
  hardware_refusal text,
  slots integer not null,
  slots_busy integer not null,
  tasks integer not null,
  uploads integer not null,
  imports integer not null,
  disk_free_bytes bigint,
  started_at timestamp(3) with time zone not null,
  last_seen_at timestamp(3) with time zone not null,
  constraint engines_pkey PRIMARY KEY (id),
  constraint engines_state_check CHECK ((state = ANY (ARRAY['working'::text, 'stopping'::text])))
);

create table idempotency_keys (
  workspace_id text not null,
  key_hash bytea not null,
  payload_hash bytea not null,
  leased_until timestamp(3) with time zone,
  status integer,
  location text,
  body json,
  created_at timestamp(3) with time zone not null default now(),
  constraint idempotency_keys_pkey PRIMARY KEY (workspace_id, key_hash),
  constraint idempotency_keys_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint leased_or_has_a_response CHECK (((leased_until IS NULL) = (status IS NOT NULL))),
  constraint response_has_a_body CHECK (((status IS NULL) = (body IS NULL)))
);
CREATE INDEX idempotency_keys_by_age ON public.idempotency_keys USING btree (created_at);

create table imports (
  video_id text not null,
  workspace_id text not null,
  claim_id text,
  shown_url text not null,
  request text,
  deadline timestamp(3) with time zone not null,
  due_at timestamp(3) with time zone,
  claimed_until timestamp(3) with time zone,
  transfer_id text,
  bytes bigint not null default 0,
  total_bytes bigint,
  tries integer not null default 0,
  failure text,
  next_try_at timestamp(3) with time zone,
  started_over boolean not null default false,
  constraint imports_pkey PRIMARY KEY (video_id),
  constraint imports_video_id_fkey FOREIGN KEY (video_id) REFERENCES videos(id) ON DELETE CASCADE,
  constraint imports_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint due_or_erased CHECK (((due_at IS NULL) = (request IS NULL)))
);
CREATE INDEX imports_by_claim ON public.imports USING btree (claim_id) WHERE (claim_id IS NOT NULL);
CREATE INDEX imports_by_turn ON public.imports USING btree (workspace_id, due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX imports_claimed ON public.imports USING btree (workspace_id) WHERE (claimed_until IS NOT NULL);
CREATE INDEX imports_due ON public.imports USING btree (due_at) WHERE (due_at IS NOT NULL);

create table maintenance_steps (
  name text not null,
  due_at timestamp(3) with time zone not null default now(),
  claimed_until timestamp(3) with time zone,
  constraint maintenance_steps_pkey PRIMARY KEY (name)
);

create table object_purges (
  video_id text not null,
  pass integer not null default 1,
  due_at timestamp(3) with time zone not null default now(),
  claimed_until timestamp(3) with time zone,
  constraint object_purges_pkey PRIMARY KEY (video_id),
  constraint object_purges_video_id_fkey FOREIGN KEY (video_id) REFERENCES videos(id),
  constraint object_purges_pass_check CHECK ((pass > 0))
);
CREATE INDEX object_purges_due ON public.object_purges USING btree (due_at);

create table pictures (
  video_id text not null,
  workspace_id text not null,
  name text not null,
  status text not null default 'preparing'::text,
  used_at timestamp(3) with time zone not null default now(),
  constraint pictures_pkey PRIMARY KEY (video_id, name),
  constraint pictures_video_id_fkey FOREIGN KEY (video_id) REFERENCES videos(id) ON DELETE CASCADE,
  constraint pictures_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint pictures_status_check CHECK ((status = ANY (ARRAY['preparing'::text, 'ready'::text, 'failed'::text])))
);
CREATE INDEX pictures_preparing ON public.pictures USING btree (workspace_id) WHERE (status = 'preparing'::text);

create table posters (
  video_id text not null,
  image bytea not null,
  constraint posters_pkey PRIMARY KEY (video_id),
  constraint posters_video_id_fkey FOREIGN KEY (video_id) REFERENCES videos(id) ON DELETE CASCADE
);
CREATE TRIGGER record_change AFTER INSERT OR DELETE OR UPDATE ON public.posters FOR EACH ROW WHEN ((COALESCE(current_setting('framelane.actor'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION record_change('poster', 'video_id', '', 'image', '');

create table quotas (
  workspace_id text not null,
  stored_bytes bigint,
  transcoded_minutes bigint,
  videos bigint,
  uploads bigint,
  file_bytes bigint,
  constraint quotas_pkey PRIMARY KEY (workspace_id),
  constraint quotas_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint quotas_file_bytes_check CHECK ((file_bytes > 0)),
  constraint quotas_stored_bytes_check CHECK ((stored_bytes >= 0)),
  constraint quotas_transcoded_minutes_check CHECK ((transcoded_minutes >= 0)),
  constraint quotas_uploads_check CHECK ((uploads >= 0)),
  constraint quotas_videos_check CHECK ((videos >= 0))
);
CREATE TRIGGER record_change AFTER INSERT OR DELETE OR UPDATE ON public.quotas FOR EACH ROW WHEN ((COALESCE(current_setting('framelane.actor'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION record_change('limits', 'workspace_id', '', '', 'stored_bytes,transcoded_minutes,videos,uploads,file_bytes');

create table renditions (
  video_id text not null,
  name text not null,
  codecs text not null,
  width integer,
  height integer,
  frame_rate double precision,
  video_range text,
  channels integer,
  language text,
  label text,
  role text,
  bandwidth integer not null,
  average_bandwidth integer not null,
  segment_durations double precision[] not null,
  segment_bytes integer[] not null,
  initialization bytea,
  constraint renditions_pkey PRIMARY KEY (video_id, name),
  constraint renditions_video_id_fkey FOREIGN KEY (video_id) REFERENCES videos(id),
  constraint audio_has_label CHECK (((channels IS NULL) = (label IS NULL))),
  constraint renditions_average_bandwidth_check CHECK ((average_bandwidth > 0)),
  constraint renditions_bandwidth_check CHECK ((bandwidth > 0)),
  constraint renditions_initialization_check CHECK ((octet_length(initialization) > 0)),
  constraint renditions_name_check CHECK ((name ~ '^(\d{3,4}p(-\w+)?|iframes|(audio|surround)[2-8]?)$'::text)),
  constraint renditions_video_range_check CHECK ((video_range = ANY (ARRAY['PQ'::text, 'HLG'::text]))),
  constraint segments_have_durations_and_bytes CHECK (((cardinality(segment_durations) = cardinality(segment_bytes)) AND (cardinality(segment_bytes) > 0)))
);

create table request_log (
  id text not null,
  workspace_id text not null,
  request_id text not null,
  key_id text not null,
  key_last4 text not null,
  method text not null,
  route text not null,
  path text not null,
  query json not null,
  status integer not null,
  problem_code text,
  duration_ms integer not null,
  request_headers json not null,
  request_body json,
  response_headers json not null,
  response_body json,
  bytes integer not null,
  created_at timestamp(3) with time zone not null,
  constraint request_log_pkey PRIMARY KEY (id, created_at),
  constraint request_log_bytes_check CHECK ((bytes > 0))
) partition by RANGE (created_at);
CREATE INDEX request_log_by_workspace ON ONLY public.request_log USING btree (workspace_id, created_at DESC, id DESC) INCLUDE (bytes);

create table request_log_sizes (
  workspace_id text not null,
  day date not null,
  entries integer not null,
  bytes bigint not null,
  constraint request_log_sizes_pkey PRIMARY KEY (workspace_id, day),
  constraint request_log_sizes_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);

create table resumable_uploads (
  transfer_id text not null,
  video_id text not null,
  length bigint not null,
  metadata text not null,
  epoch integer not null default 0,
  claim_id text,
  checkpoint jsonb,
  ended_at timestamp(3) with time zone,
  end_reason text,
  constraint resumable_uploads_pkey PRIMARY KEY (transfer_id),
  constraint resumable_uploads_video_id_fkey FOREIGN KEY (video_id) REFERENCES upload_tickets(video_id) ON DELETE CASCADE,
  constraint ended_has_a_reason CHECK (((ended_at IS NULL) = (end_reason IS NULL))),
  constraint resumable_uploads_end_reason_check CHECK ((end_reason = ANY (ARRAY['completed'::text, 'terminated'::text, 'superseded'::text]))),
  constraint resumable_uploads_length_check CHECK ((length > 0))
);
CREATE INDEX resumable_uploads_by_video ON public.resumable_uploads USING btree (video_id);
CREATE UNIQUE INDEX resumable_uploads_unfinished ON public.resumable_uploads USING btree (video_id) WHERE (ended_at IS NULL);

create table tasks (
  video_id text not null,
  workspace_id text not null,
  attempt integer not null,
  number integer not null,
  kind text not null,
  command text not null,
  work jsonb,
  input_bytes bigint,
  frames integer not null,
  progress real not null default 0,
  tries integer not null default 0,
  failed_tries integer not null default 0,
  claim_id text,
  reported boolean not null default false,
  unreported_tries integer not null default 0,
  due_at timestamp(3) with time zone not null default now(),
  command_due_at timestamp(3) with time zone,
  command_claimed_until timestamp(3) with time zone,
  command_published_at timestamp(3) with time zone,
  lease_expires_at timestamp(3) with time zone,
  started_at timestamp(3) with time zone,
  started_renditions jsonb not null default '{}'::jsonb,
  result jsonb,
  traceparent text,
  constraint tasks_pkey PRIMARY KEY (video_id, attempt, number),
  constraint tasks_video_id_attempt_fkey FOREIGN KEY (video_id, attempt) REFERENCES attempts(video_id, number) ON DELETE CASCADE,
  constraint tasks_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint done_has_no_lease CHECK (((result IS NULL) OR (lease_expires_at IS NULL))),
  constraint first_task_plans CHECK (((number >= 0) AND ((number = 0) = (kind = ANY (ARRAY['plan'::text, 'whole'::text, 'clip'::text]))) AND ((number = 0) = (work IS NULL)) AND ((number = 0) = (command = ANY (ARRAY['plan'::text, 'clip'::text]))))),
  constraint reader_of_renditions_has_a_size CHECK (((command = ANY (ARRAY['derive'::text, 'picture'::text, 'transcribe'::text, 'clip'::text])) = (input_bytes IS NOT NULL))),
  constraint tasks_command_check CHECK ((command = ANY (ARRAY['plan'::text, 'task'::text, 'background'::text, 'derive'::text, 'picture'::text, 'transcribe'::text, 'clip'::text]))),
  constraint tasks_frames_check CHECK ((frames >= 0)),
  constraint tasks_progress_check CHECK (((progress >= (0)::double precision) AND (progress <= (1)::double precision)))
);
CREATE INDEX tasks_by_lease ON public.tasks USING btree (lease_expires_at) WHERE (lease_expires_at IS NOT NULL);
CREATE INDEX tasks_by_publication ON public.tasks USING btree (command_published_at) WHERE (command_published_at IS NOT NULL);
CREATE INDEX tasks_by_turn ON public.tasks USING btree (command, workspace_id, command_due_at) WHERE (command_due_at IS NOT NULL);
CREATE INDEX tasks_that_store ON public.tasks USING btree (workspace_id) WHERE ((command = ANY (ARRAY['derive'::text, 'clip'::text])) AND (input_bytes > 0));
CREATE INDEX tasks_with_command ON public.tasks USING btree (workspace_id) WHERE ((command_published_at IS NOT NULL) OR (command_claimed_until IS NOT NULL));

create table upload_tickets (
  video_id text not null,
  token_hash bytea not null,
  expires_at timestamp(3) with time zone not null,
  extension_seconds integer not null,
  latest_expires_at timestamp(3) with time zone not null,
  transfer_id text,
  lease_expires_at timestamp(3) with time zone,
  claim_id text,
  announced_bytes bigint,
  declared_bytes bigint,
  reserved_bytes bigint not null default 0,
  unpurged_bytes bigint not null default 0,
  used_at timestamp(3) with time zone,
  constraint upload_tickets_token_hash_key UNIQUE (token_hash),
  constraint upload_tickets_pkey PRIMARY KEY (video_id),
  constraint upload_tickets_video_id_fkey FOREIGN KEY (video_id) REFERENCES videos(id),
  constraint lease_belongs_to_a_transfer CHECK (((transfer_id IS NULL) = (lease_expires_at IS NULL)))
);
CREATE INDEX upload_tickets_under_way ON public.upload_tickets USING btree (lease_expires_at) WHERE ((transfer_id IS NOT NULL) AND (used_at IS NULL));
CREATE INDEX upload_tickets_unpurged ON public.upload_tickets USING btree (video_id) WHERE (unpurged_bytes > 0);
CREATE INDEX upload_tickets_unused ON public.upload_tickets USING btree (expires_at) WHERE (used_at IS NULL);

create table usage_daily (
  workspace_id text not null,
  environment text not null,
  day date not null,
  transcoded_ms bigint not null default 0,
  bandwidth_bytes bigint not null default 0,
  storage_bytes bigint,
  constraint usage_daily_pkey PRIMARY KEY (workspace_id, environment, day),
  constraint usage_daily_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint usage_daily_bandwidth_bytes_check CHECK ((bandwidth_bytes >= 0)),
  constraint usage_daily_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint usage_daily_transcoded_ms_check CHECK ((transcoded_ms >= 0))
);

create table videos (
  id text not null,
  workspace_id text not null,
  environment text not null,
  status text not null,
  title text not null,
  filename text not null,
  playback_policy text not null default 'public'::text,
  allowed_origins text[],
  playback_version integer not null default 0,
  metadata jsonb not null default '{}'::jsonb,
  tags text[] not null default '{}'::text[],
  passthrough text,
  packaging text not null default 'ts'::text,
  codecs jsonb not null default '[]'::jsonb,
  hdr text not null default 'sdr'::text,
  audio_only boolean,
  "trim" jsonb,
  watermark jsonb,
  size bigint,
  sha256 text,
  source jsonb,
  input_issues jsonb not null default '[]'::jsonb,
  duration double precision,
  width integer,
  height integer,
  frame_rate double precision,
  variants text[],
  preview_variants text[],
  target_duration integer,
  start_timestamp bigint,
  storyboard jsonb,
  chosen_poster jsonb,
  poster_time double precision,
  chapter_count integer not null default 0,
  storage_bytes bigint not null default 0,
  progress integer not null default 0,
  attempt integer not null default 0,
  as_a_whole boolean not null default false,
  content_key text,
  error_code text,
  error_message text,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  uploaded_at timestamp(3) with time zone,
  ready_at timestamp(3) with time zone,
  failed_at timestamp(3) with time zone,
  retried_at timestamp(3) with time zone[] not null default '{}'::timestamp with time zone[],
  keep_source_days integer,
  delete_source_at timestamp(3) with time zone,
  source_deleted_at timestamp(3) with time zone,
  remove_at timestamp(3) with time zone,
  deleted_at timestamp(3) with time zone,
  traceparent text,
  constraint videos_pkey PRIMARY KEY (id),
  constraint videos_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint codecs_are_an_array CHECK ((jsonb_typeof(codecs) = 'array'::text)),
  constraint deleted_has_no_key CHECK (((deleted_at IS NULL) OR (content_key IS NULL))),
  constraint failed_has_a_code CHECK (((status = 'failed'::text) = (error_code IS NOT NULL))),
  constraint failed_has_no_key CHECK (((status <> 'failed'::text) OR (content_key IS NULL))),
  constraint metadata_is_an_object CHECK ((jsonb_typeof(metadata) = 'object'::text)),
  constraint ready_is_complete CHECK (((status <> 'ready'::text) OR (deleted_at IS NOT NULL) OR ((content_key IS NOT NULL) AND (variants IS NOT NULL) AND (target_duration IS NOT NULL) AND (start_timestamp IS NOT NULL)))),
  constraint videos_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'test'::text]))),
  constraint videos_hdr_check CHECK ((hdr = ANY (ARRAY['sdr'::text, 'keep'::text]))),
  constraint videos_packaging_check CHECK ((packaging = ANY (ARRAY['ts'::text, 'cmaf'::text]))),
  constraint videos_playback_policy_check CHECK ((playback_policy = ANY (ARRAY['public'::text, 'signed'::text]))),
  constraint videos_progress_check CHECK (((progress >= 0) AND (progress <= 100))),
  constraint videos_status_check CHECK ((status = ANY (ARRAY['uploading'::text, 'processing'::text, 'ready'::text, 'failed'::text])))
);
CREATE INDEX videos_by_kind ON public.videos USING btree (workspace_id, environment, status, created_at DESC, id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX videos_by_needed_watermark ON public.videos USING btree (((watermark ->> 'image'::text))) WHERE ((watermark IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX videos_by_sealing_key ON public.videos USING btree (split_part(content_key, '.'::text, 1) COLLATE "C", id) WHERE (content_key IS NOT NULL);
CREATE INDEX videos_by_tag ON public.videos USING gin (workspace_id, tags) WHERE (deleted_at IS NULL);
CREATE INDEX videos_by_title ON public.videos USING gin (title gin_trgm_ops) WHERE (deleted_at IS NULL);
CREATE INDEX videos_by_workspace ON public.videos USING btree (workspace_id, created_at DESC, id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX videos_stored ON public.videos USING btree (workspace_id, environment) INCLUDE (storage_bytes) WHERE (deleted_at IS NULL);
CREATE INDEX videos_to_remove ON public.videos USING btree (remove_at) WHERE ((remove_at IS NOT NULL) AND (deleted_at IS NULL));
CREATE INDEX videos_tombstones ON public.videos USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE INDEX videos_with_source_to_delete ON public.videos USING btree (delete_source_at) WHERE (delete_source_at IS NOT NULL);
CREATE TRIGGER record_change AFTER INSERT OR DELETE OR UPDATE ON public.videos FOR EACH ROW WHEN ((COALESCE(current_setting('framelane.actor'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION record_change('video', 'id', '', 'title,metadata,tags,passthrough,allowed_origins,source_deleted_at,chosen_poster,retried_at,codecs,deleted_at', 'playback_policy,keep_source_days');

create table view_changes (
  video_id text not null,
  day date not null,
  changes bigint not null default 1,
  constraint view_changes_pkey PRIMARY KEY (video_id, day)
);

create table view_salts (
  day date not null,
  salt bytea not null,
  constraint view_salts_pkey PRIMARY KEY (day)
);

create table view_sessions (
  day date not null,
  video_id text not null,
  session_id uuid not null,
  visitor bytea,
  watched bit(100) not null,
  watched_at_rungs bit(400) not null,
  stalled bit(100) not null,
  watch_ms integer,
  startup_ms integer,
  stalls integer not null,
  stall_ms integer not null,
  error text,
  device text not null,
  country text,
  constraint view_sessions_pkey PRIMARY KEY (day, video_id, session_id),
  constraint view_sessions_stall_ms_check CHECK ((stall_ms >= 0)),
  constraint view_sessions_stalls_check CHECK ((stalls >= 0)),
  constraint view_sessions_startup_ms_check CHECK ((startup_ms >= 0)),
  constraint view_sessions_watch_ms_check CHECK ((watch_ms >= 0))
) partition by RANGE (day);

create table viewers_daily (
  workspace_id text not null,
  environment text not null,
  day date not null,
  unique_viewers bigint not null,
  constraint viewers_daily_pkey PRIMARY KEY (workspace_id, environment, day),
  constraint viewers_daily_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint viewers_daily_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'test'::text])))
);

create table views_daily (
  video_id text not null,
  day date not null,
  workspace_id text not null,
  environment text not null,
  views bigint not null,
  unique_viewers bigint not null,
  watch_ms bigint not null,
  stalls bigint not null,
  stall_ms bigint not null,
  retention integer[] not null,
  breakdowns jsonb not null,
  constraint views_daily_pkey PRIMARY KEY (video_id, day),
  constraint views_daily_video_id_fkey FOREIGN KEY (video_id) REFERENCES videos(id) ON DELETE CASCADE,
  constraint views_daily_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint views_daily_environment_check CHECK ((environment = ANY (ARRAY['live'::text, 'test'::text])))
);
CREATE INDEX views_daily_by_workspace ON public.views_daily USING btree (workspace_id, environment, day);

create table watermarks (
  id text not null,
  workspace_id text not null,
  name text,
  format text not null,
  width integer not null,
  height integer not null,
  bytes integer not null,
  image bytea not null,
  created_at timestamp(3) with time zone not null default now(),
  deleted_at timestamp(3) with time zone,
  constraint watermarks_pkey PRIMARY KEY (id),
  constraint watermarks_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint watermarks_check CHECK ((bytes = octet_length(image))),
  constraint watermarks_format_check CHECK ((format = ANY (ARRAY['png'::text, 'jpeg'::text]))),
  constraint watermarks_height_check CHECK ((height > 0)),
  constraint watermarks_width_check CHECK ((width > 0))
);
CREATE INDEX watermarks_by_workspace ON public.watermarks USING btree (workspace_id, created_at DESC, id DESC) INCLUDE (bytes);
CREATE INDEX watermarks_deleted ON public.watermarks USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);
CREATE TRIGGER record_change AFTER INSERT OR DELETE OR UPDATE ON public.watermarks FOR EACH ROW WHEN ((COALESCE(current_setting('framelane.actor'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION record_change('watermark', 'id', '', 'name,deleted_at', '');

create table webhook_deliveries (
  id text not null,
  endpoint_id text not null,
  event_id text not null,
  status text not null default 'pending'::text,
  attempts integer not null default 0,
  failures integer not null default 0,
  next_attempt_at timestamp(3) with time zone,
  last_attempt_at timestamp(3) with time zone,
  response_status integer,
  failure text,
  created_at timestamp(3) with time zone not null default now(),
  claimed_until timestamp(3) with time zone,
  round integer not null default 1,
  constraint one_delivery_per_event_and_endpoint UNIQUE (event_id, endpoint_id),
  constraint webhook_deliveries_pkey PRIMARY KEY (id),
  constraint webhook_deliveries_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints(id) ON DELETE CASCADE,
  constraint webhook_deliveries_event_id_fkey FOREIGN KEY (event_id) REFERENCES webhook_events(id) ON DELETE CASCADE,
  constraint attempted_has_a_last_attempt CHECK (((attempts > 0) = (last_attempt_at IS NOT NULL))),
  constraint open_has_a_next_attempt CHECK (((status = ANY (ARRAY['pending'::text, 'retrying'::text])) = (next_attempt_at IS NOT NULL))),
  constraint webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'retrying'::text, 'succeeded'::text, 'failed'::text])))
);
CREATE INDEX webhook_deliveries_by_attempt ON public.webhook_deliveries USING btree (endpoint_id, last_attempt_at DESC) WHERE (last_attempt_at IS NOT NULL);
CREATE INDEX webhook_deliveries_by_endpoint ON public.webhook_deliveries USING btree (endpoint_id, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_by_status ON public.webhook_deliveries USING btree (endpoint_id, status, created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_claimed ON public.webhook_deliveries USING btree (endpoint_id) WHERE (claimed_until IS NOT NULL);
CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (endpoint_id, next_attempt_at) WHERE (next_attempt_at IS NOT NULL);
CREATE INDEX webhook_deliveries_overdue ON public.webhook_deliveries USING btree (next_attempt_at) WHERE (next_attempt_at IS NOT NULL);

create table webhook_endpoints (
  id text not null,
  workspace_id text not null,
  url text not null,
  description text,
  events text[] not null,
  enabled boolean not null,
  disabled_reason text,
  secret text not null,
  previous_secret text,
  previous_secret_expires_at timestamp(3) with time zone,
  consecutive_failures integer not null default 0,
  failing_since timestamp(3) with time zone,
  last_attempt_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  updated_at timestamp(3) with time zone not null default now(),
  constraint webhook_endpoints_pkey PRIMARY KEY (id),
  constraint webhook_endpoints_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint disabled_for_a_reason CHECK ((enabled = (disabled_reason IS NULL))),
  constraint failing_has_failures CHECK (((consecutive_failures > 0) = (failing_since IS NOT NULL))),
  constraint has_events CHECK ((events <> '{}'::text[])),
  constraint previous_secret_expires CHECK (((previous_secret IS NULL) = (previous_secret_expires_at IS NULL))),
  constraint webhook_endpoints_disabled_reason_check CHECK ((disabled_reason = ANY (ARRAY['manual'::text, 'gone'::text, 'failing'::text])))
);
CREATE INDEX webhook_endpoints_by_workspace ON public.webhook_endpoints USING btree (workspace_id, created_at DESC, id DESC);
CREATE TRIGGER record_change AFTER INSERT OR DELETE OR UPDATE ON public.webhook_endpoints FOR EACH ROW WHEN ((COALESCE(current_setting('framelane.actor'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION record_change('webhook', 'id', '', 'url,description,secret', 'events,enabled');

create table webhook_events (
  id text not null,
  workspace_id text not null,
  type text not null,
  payload text not null,
  traceparent text,
  created_at timestamp(3) with time zone not null default now(),
  "position" bigint,
  video_id text,
  constraint webhook_events_pkey PRIMARY KEY (id),
  constraint webhook_events_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE INDEX webhook_events_by_age ON public.webhook_events USING btree (created_at);
CREATE UNIQUE INDEX webhook_events_by_position ON public.webhook_events USING btree (workspace_id, "position");
CREATE INDEX webhook_events_by_video ON public.webhook_events USING btree (video_id) WHERE (video_id IS NOT NULL);
CREATE CONSTRAINT TRIGGER place_event AFTER INSERT ON public.webhook_events DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new."position" IS NULL)) EXECUTE FUNCTION place_event();

create table workspaces (
  id text not null,
  name text not null,
  created_at timestamp(3) with time zone not null default now(),
  constraint workspaces_pkey PRIMARY KEY (id)
);
CREATE TRIGGER record_change AFTER INSERT OR DELETE OR UPDATE ON public.workspaces FOR EACH ROW WHEN ((COALESCE(current_setting('framelane.actor'::text, true), ''::text) <> ''::text)) EXECUTE FUNCTION record_change('workspace', 'id', '', 'name', '');
