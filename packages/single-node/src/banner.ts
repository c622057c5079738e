/** Where the first API key can be found. */
export type KeyPlace =
  /** Made at this start, which shows it in a terminal. */
  | { kind: 'shown'; secret: string }
  /** Made at this start, whose output may be kept by others: in a private file. */
  | { kind: 'file'; path: string }
  /** Given by the setting BOOTSTRAP_API_KEY. */
  | { kind: 'given' }
  /** Made at an earlier start. */
  | { kind: 'earlier' };

/** What a person has to know once everything runs. */
export type BannerFacts = {
  baseUrl: string;
  engineUrl: string;
  workspaceId: string;
  key: KeyPlace;
  dataDir: string;
  sampleVideo: string;
};

/** The lines to print after a start. */
export function banner(facts: BannerFacts): string {
  const { baseUrl, engineUrl, workspaceId, key, dataDir } = facts;
  const keyInShell = shellExpression(key);
  return `
Framelane is ready.

  Base address    ${baseUrl}
  Engine address  ${engineUrl}
  API reference   ${baseUrl}/docs
  Workspace       ${workspaceId}
  API key         ${describeKey(key, workspaceId)}
  Data            ${dataDir}
${keyInShell === null ? '' : `\n${example(facts, keyInShell)}`}
Stop with Ctrl-C.
`;
}

function describeKey(key: KeyPlace, workspaceId: string): string {
  switch (key.kind) {
    case 'shown':
      return `${key.secret}   (keep it: it is shown only this once)`;
    case 'file':
      return `${key.path}   (copy the key from this file, then delete the file)`;
    case 'given':
      return 'the one in BOOTSTRAP_API_KEY';
    case 'earlier':
      return `made at the first start. Lost it? npm run admin -- key create --workspace ${workspaceId} --name Another`;
  }
}

/** How a shell gets the key, between double quotes. */
function shellExpression(key: KeyPlace): string | null {
  switch (key.kind) {
    case 'shown':
      return key.secret;
    case 'file':
      return `$(cat '${key.path}')`;
    case 'given':
      return '$BOOTSTRAP_API_KEY';
    case 'earlier':
      return null;
  }
}

/** Ticket, upload, poll: three lines for any POSIX shell. */
function example(facts: BannerFacts, key: string): string {
  const { baseUrl, engineUrl, workspaceId, sampleVideo } = facts;
  const credentials = `-H "Authorization: Bearer ${key}" -H 'X-Svc-Workspace: ${workspaceId}'`;
  const fromTicket = (field: string) => `$(echo "$TICKET" | sed 's/.*"${field}":"\\([^"]*\\)".*/\\1/')`;
  return `Try it, with this sample or a file of your own:

TICKET=$(curl -sS ${baseUrl}/videos/upload-ticket ${credentials} -H 'Content-Type: application/json' -d '{"filename":"sample.mp4"}'); echo "$TICKET"
curl -sS ${engineUrl}/upload -H "X-Upload-Token: ${fromTicket('uploadToken')}" -F 'file=@${sampleVideo}'; echo
until curl -sS "${baseUrl}/videos/${fromTicket('videoId')}" ${credentials} | grep -E '"status":"(ready|failed)"'; do sleep 1; done
`;
}
