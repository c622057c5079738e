import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '@framelane/test-kit/run-program';

/** Statuses of responses without a body. A response to `curl --head` has none either: curl writes its headers. */
const BODILESS = [204, 304];

/**
 * Runs shell lines that call curl once, in `directory` and with the variables of `env`. Resolves with the response. Its body is empty if
 * curl wrote the body to a file.
 */
export async function runCurlLine(
  lines: string,
  { env, directory }: { env: Record<string, string>; directory: string },
): Promise<Response> {
  const home = await mkdtemp(join(directory, 'curl-'));
  await writeFile(
    join(home, '.curlrc'),
    'silent\nshow-error\nwrite-out = "\\n%{http_code} %{content_type}"\n',
  );
  const { stdout } = await runProgram('sh', ['-c', `cd '${directory}'\n${lines}`], {
    env: { ...env, CURL_HOME: home },
  });
  const end = stdout.lastIndexOf('\n');
  const [status, ...contentType] = stdout.slice(end + 1).split(' ');
  const isBodiless = BODILESS.includes(Number(status)) || lines.startsWith('curl --head ');
  return new Response(isBodiless ? null : stdout.slice(0, end), {
    status: Number(status),
    headers: { 'content-type': contentType.join(' ') },
  });
}
