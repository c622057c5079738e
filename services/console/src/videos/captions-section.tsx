import type { Schemas, Video } from '@framelane/client';
import { Badge, Button, Group, Modal } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/api.ts';
import { API_URL } from '../paths.ts';
import { useSession } from '../sign-in/session.ts';
import { Confirm } from '../ui/confirm.tsx';
import { Copy } from '../ui/copy.tsx';
import { ErrorAlert } from '../ui/error-alert.tsx';
import { Section } from '../ui/section.tsx';
import { GenerateCaptionsForm, UnfinishedCaptions } from './auto-captions.tsx';
import { CaptionsEditor } from './captions-editor.tsx';
import { CaptionsForm } from './captions-form.tsx';
import { captionsWords } from './captions-words.ts';
import { useRefreshVideo } from './queries.ts';

type Captions = Schemas['Captions'];

/** The captions of a video. With the permission `videos:write`, they can be changed. */
export function CaptionsSection({ video }: { video: Video }) {
  const { can } = useSession();
  const mayWrite = can('videos:write');
  const [form, setForm] = useState<{ replaced: Captions | null } | null>(null);
  const [edited, setEdited] = useState<Captions | null>(null);
  const [isGenerating, setIsGenerating] = useState(false);
  const add = (
    <Group gap="xs">
      <Button size="xs" variant="default" onClick={() => setIsGenerating(true)}>
        Generate captions
      </Button>
      <Button size="xs" variant="default" onClick={() => setForm({ replaced: null })}>
        Add captions
      </Button>
    </Group>
  );
  const title = form?.replaced ? `Replace captions: ${form.replaced.label}` : 'Add captions';
  return (
    <Section title="Captions" action={mayWrite && add}>
      {video.captions.length + video.autoCaptions.length === 0 && (
        <NoCaptions video={video} mayWrite={mayWrite} />
      )}
      <ul className="captions">
        {video.captions.map((captions) => (
          <li key={captions.language}>
            <CaptionsWords captions={captions} />
            {mayWrite && (
              <CaptionsActions
                videoId={video.id}
                captions={captions}
                onEdit={() => setEdited(captions)}
                onReplace={() => setForm({ replaced: captions })}
              />
            )}
          </li>
        ))}
        <UnfinishedCaptions video={video} mayWrite={mayWrite} />
      </ul>
      <Modal opened={form !== null} onClose={() => setForm(null)} title={title} closeOnClickOutside={false}>
        {form !== null && (
          <CaptionsForm videoId={video.id} replaced={form.replaced} onDone={() => setForm(null)} />
        )}
      </Modal>
      <Modal
        opened={edited !== null}
        onClose={() => setEdited(null)}
        title={`Edit captions: ${edited?.label ?? ''}`}
        size="lg"
        closeOnClickOutside={false}
      >
        {edited !== null && (
          <CaptionsEditor videoId={video.id} captions={edited} onDone={() => setEdited(null)} />
        )}
      </Modal>
      <Modal opened={isGenerating} onClose={() => setIsGenerating(false)} title="Generate captions">
        <GenerateCaptionsForm videoId={video.id} onDone={() => setIsGenerating(false)} />
      </Modal>
    </Section>
  );
}

function NoCaptions({ video: { id, workspaceId }, mayWrite }: { video: Video; mayWrite: boolean }) {
  const command = `curl -X PUT "${API_URL}/videos/${id}/captions/en" \\
  -H "Authorization: Bearer $KEY" -H 'X-Svc-Workspace: ${workspaceId}' \\
  -H 'Content-Type: text/vtt' --data-binary @captions.en.vtt`;
  return (
    <>
      <p className="hint">
        This video has no captions.{mayWrite && ' Add a .vtt or .srt file, here or from a program:'}
      </p>
      {mayWrite && <Copy label="Captions, with an API key in KEY" value={command} />}
    </>
  );
}

function CaptionsWords({ captions }: { captions: Captions }) {
  return (
    <div className="row-words">
      <span className="row-title">
        {captions.label} {captions.default && <Badge variant="light">Default</Badge>}
      </span>
      <span className="hint">{captionsWords(captions)}</span>
    </div>
  );
}

function CaptionsActions({
  videoId,
  captions: { language, label, default: isDefault },
  onEdit,
  onReplace,
}: {
  videoId: string;
  captions: Captions;
  onEdit: () => void;
  onReplace: () => void;
}) {
  const [isDeleting, setIsDeleting] = useState(false);
  const refresh = useRefreshVideo(videoId);
  const change = useMutation({
    mutationFn: () => api.captions.update(videoId, language, { default: !isDefault }),
    onSuccess: refresh,
  });
  const named = (action: string) => `${action}: ${label} (${language})`;
  return (
    <>
      <Group gap="xs">
        <Button
          size="xs"
          variant="default"
          loading={change.isPending}
          onClick={() => change.mutate()}
          aria-label={named(isDefault ? 'Stop showing by default' : 'Make default')}
        >
          {isDefault ? 'Stop showing by default' : 'Make default'}
        </Button>
        <Button size="xs" variant="default" onClick={onEdit} aria-label={named('Edit')}>
          Edit
        </Button>
        <Button size="xs" variant="default" onClick={onReplace} aria-label={named('Replace')}>
          Replace
        </Button>
        <Button
          size="xs"
          variant="outline"
          color="red"
          onClick={() => setIsDeleting(true)}
          aria-label={named('Delete')}
        >
          Delete
        </Button>
      </Group>
      {change.error && <ErrorAlert error={change.error} />}
      <Confirm
        title="Delete captions"
        submit="Delete captions"
        isOpen={isDeleting}
        onClose={() => setIsDeleting(false)}
        action={() => api.captions.delete(videoId, language)}
        onDone={refresh}
      >
        {`The captions “${label}” (${language}) are deleted at once. Players that start afterwards do not offer them.`}
      </Confirm>
    </>
  );
}
