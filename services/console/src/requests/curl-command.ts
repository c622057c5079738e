/** What the command needs of a request in the log. */
export type Repeated = { method: string; path: string; query: object; requestBody: unknown };

/**
 * The command that sends a request again, with shell variables for the key and the workspace. Texts that the log has left out are placeholders
 * in it. `apiUrl` is the root of the API, with `/v1`.
 */
export function curlCommand({ method, path, query, requestBody }: Repeated, apiUrl: string): string {
  const url = `${apiUrl.replace(/\/v1$/, '')}${path}${queryText(query)}`;
  return [
    `curl ${methodOption(method)}${quoted(url)}`,
    `-H "Authorization: Bearer $KEY" -H "X-Svc-Workspace: $WORKSPACE"`,
    ...(requestBody === null
      ? []
      : [`-H 'Content-Type: application/json'`, `--data ${quoted(JSON.stringify(requestBody))}`]),
  ].join(' \\\n  ');
}

function methodOption(method: string): string {
  if (method === 'GET') return '';
  return method === 'HEAD' ? '--head ' : `-X ${method} `;
}

function queryText(query: object): string {
  const pairs = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    [value].flat().map((each) => [name, String(each)]),
  );
  const text = new URLSearchParams(pairs.filter(([name]) => !name.startsWith('['))).toString();
  return text === '' ? '' : `?${text}`;
}

/** One word of a POSIX shell, whatever the text is. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
