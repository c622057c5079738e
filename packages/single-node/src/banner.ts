/** What a person has to know once everything runs. */
export type BannerFacts = {
  baseUrl: string;
  engineUrl: string;
  workspaceId: string;
  /** Known at the start that made it, and never again. */
  apiKey: string | null;
  dataDir: string;
  sampleVideo: string;
};

/** The lines to print after a start. */
export function banner(facts: BannerFacts): string {
  const { baseUrl, engineUrl, workspaceId, apiKey, dataDir } = facts;
  const key =
    apiKey === null
      ? `shown at the first start. Lost it? npm run admin -- key create --workspace ${workspaceId} --name Another`
      : `${apiKey}   (keep it: it is shown only this once)`;
  return `
Framelane is ready.

  Base address    ${baseUrl}
  Engine address  ${engineUrl}
  API reference   ${baseUrl}/docs
  Workspace       ${workspaceId}
  API key         ${key}
  Data            ${dataDir}
${apiKey === null ? '' : `\n${example({ ...facts, apiKey })}`}
Stop with Ctrl-C.
`;
}

/** Ticket, upload, poll: three lines for any POSIX shell. */
function example(facts: BannerFacts & { apiKey: string }): string {
  const { baseUrl, engineUrl, workspaceId, apiKey, sampleVideo } = facts;
  const credentials = `-H 'Authorization: Bearer ${apiKey}' -H 'X-Svc-Workspace: ${workspaceId}'`;
  const fromTicket = (field: string) => `$(echo "$TICKET" | sed 's/.*"${field}":"\\([^"]*\\)".*/\\1/')`;
  return `Try it, with this sample or a file of your own:

TICKET=$(curl -sS ${baseUrl}/videos/upload-ticket ${credentials} -H 'Content-Type: application/json' -d '{"filename":"sample.mp4"}'); echo "$TICKET"
curl -sS ${engineUrl}/upload -H "X-Upload-Token: ${fromTicket('uploadToken')}" -F 'file=@${sampleVideo}'; echo
until curl -sS "${baseUrl}/videos/${fromTicket('videoId')}" ${credentials} | grep -E '"status":"(ready|failed)"'; do sleep 1; done
`;
}
