type Place = { apiUrl: string; workspaceId: string };

/** Shell lines that do with curl what the page does: ticket, upload, record. The secret of the key is in KEY. */
export function firstCode({ apiUrl, workspaceId }: Place): string {
  const headers = `-H "Authorization: Bearer $KEY" -H 'X-Svc-Workspace: ${workspaceId}'`;
  return [
    `TICKET=$(curl -sS ${apiUrl}/videos/upload-ticket ${headers} -H 'Content-Type: application/json' -d '{"filename":"holiday.mp4"}'); echo "$TICKET"`,
    `curl -sS "${fromTicket('uploadUrl')}" -H "X-Upload-Token: ${fromTicket('uploadToken')}" -F file=@holiday.mp4; echo`,
    `curl -sS "${apiUrl}/videos/${fromTicket('videoId')}" ${headers}`,
  ].join('\n');
}

function fromTicket(name: string): string {
  return `$(echo "$TICKET" | sed 's/.*"${name}":"\\([^"]*\\)".*/\\1/')`;
}
