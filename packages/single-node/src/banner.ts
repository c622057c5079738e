/** Where to find the first API key. */
export type KeyPlace =
  /** Created at this start and printed, because the output is a terminal. */
  | { kind: 'shown'; secret: string }
  /** Created at this start and written to a private file, because the output may be collected. */
  | { kind: 'file'; path: string }
  /** The value of BOOTSTRAP_API_KEY. */
  | { kind: 'given' }
  /** Created at an earlier start. */
  | { kind: 'earlier' };

/** The facts that the banner shows. */
export type BannerFacts = {
  baseUrl: string;
  engineUrl: string;
  workspaceId: string;
  key: KeyPlace;
  /** The sign-in link to the console, or the private file that contains it. */
  consoleLink: { url: string } | { file: string };
  dataDir: string;
  sampleVideo: string;
  /** What starts the administration command. */
  adminCommand: string;
  /** Whether the node can recognise speech. */
  hasRecognizer: boolean;
};

/** The text to print when the node is ready. */
export function banner(facts: BannerFacts): string {
  const { baseUrl, engineUrl, workspaceId, key, consoleLink, dataDir, adminCommand, hasRecognizer } = facts;
  const docs = baseUrl.replace(/\/v1$/, '/docs');
  const keyInShell = shellExpression(key);
  return `
Framelane is ready.

  Console         ${describeLink(consoleLink, adminCommand)}
  API             ${baseUrl}
  Uploads         ${engineUrl}
  API reference   ${baseUrl}/docs
  Documentation   ${docs}
  Workspace       ${workspaceId}
  API key         ${describeKey(key, { workspaceId, adminCommand })}
  Data            ${dataDir}
  Auto captions   ${hasRecognizer ? 'on' : `off; to turn them on, set RECOGNIZER_URL to a speech recogniser such as http://localhost:8000/v1 (${docs}/captions)`}
${keyInShell === null ? '' : `\n${example(facts, keyInShell)}`}
Stop with Ctrl-C.
`;
}

function describeLink(link: BannerFacts['consoleLink'], adminCommand: string): string {
  const use = `one sign-in within 10 minutes. For another link: ${adminCommand} console-link --administrator`;
  return 'url' in link ? `${link.url}   (${use})` : `${link.file}   (contains the link for ${use})`;
}

function describeKey(
  key: KeyPlace,
  { workspaceId, adminCommand }: Pick<BannerFacts, 'workspaceId' | 'adminCommand'>,
): string {
  switch (key.kind) {
    case 'shown':
      return `${key.secret}   (save it now: it is shown only once)`;
    case 'file':
      return `${key.path}   (contains the key; the lines below read it. Store the key elsewhere, then delete the file)`;
    case 'given':
      return 'the value of BOOTSTRAP_API_KEY';
    case 'earlier':
      return `created at the first start. To create another: ${adminCommand} key create --workspace ${workspaceId} --name Another`;
  }
}

/** The shell expression for the key, for use within double quotes. */
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

/** Three lines for any POSIX shell: request an upload ticket, upload a file, wait until the video is ready. */
function example(facts: BannerFacts, key: string): string {
  const { baseUrl, engineUrl, workspaceId, sampleVideo } = facts;
  const credentials = `-H "Authorization: Bearer ${key}" -H 'X-Svc-Workspace: ${workspaceId}'`;
  const fromTicket = (field: string) => `$(echo "$TICKET" | sed 's/.*"${field}":"\\([^"]*\\)".*/\\1/')`;
  return `To try it, run these lines. They upload a sample video; replace it with a file of your own if you like.

TICKET=$(curl -sS ${baseUrl}/videos/upload-ticket ${credentials} -H 'Content-Type: application/json' -d '{"filename":"sample.mp4"}'); echo "$TICKET"
curl -sS ${engineUrl}/upload -H "X-Upload-Token: ${fromTicket('uploadToken')}" -F 'file=@${sampleVideo}'; echo
until curl -sS "${baseUrl}/videos/${fromTicket('videoId')}" ${credentials} | grep -E '"status":"(ready|failed)"'; do sleep 1; done
`;
}
