import { Anchor, Text } from '@mantine/core';
import { Link } from 'wouter';
import { API_URL, paths } from '../paths.ts';
import { useSession } from '../sign-in/session.ts';
import { Copy } from '../ui/copy.tsx';
import { permissionWords } from '../ui/permission-words.ts';

export function NothingFound() {
  return (
    <div className="empty">
      <Text>No video matches. </Text>
      <Anchor component={Link} href={paths.videos}>
        Show all videos
      </Anchor>
    </div>
  );
}

/** What to do first, with the real ids. */
export function NoVideos() {
  const { workspace, environment, can } = useSession();
  const command = [
    `curl -X POST ${API_URL}/videos/upload-ticket`,
    `  -H "Authorization: Bearer $KEY" -H 'X-Svc-Workspace: ${workspace.id}'`,
    `  -H 'Content-Type: application/json' -d '{"filename":"holiday.mp4"}'`,
  ].join(' \\\n');
  return (
    <div className="empty">
      <Text fw={600}>This workspace has no videos in the environment {environment} yet.</Text>
      <Text>
        {can('videos:write')
          ? 'Drop a file here. Framelane transcodes it, and you can watch it as soon as it is ready.'
          : `Somebody with the permission “${permissionWords('videos:write')}” can upload one.`}
      </Text>
      <Text>A program creates a ticket, with an API key in KEY, and sends the file to its uploadUrl:</Text>
      <Copy label="Ticket for an upload" value={command} />
    </div>
  );
}
