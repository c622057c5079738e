import { once } from 'node:events';
import type { FramelaneClient } from '@framelane/client';
import type { Command } from 'commander';
import { words } from '../arguments.ts';
import { CliError, UsageError } from '../cli-error.ts';
import type { Host } from '../host.ts';
import { ownVersion } from '../own-version.ts';
import { apiCommand } from '../run-command.ts';
import { table } from '../terminal/table.ts';
import type { ApiDocument } from './api-document.ts';
import { type ApiTool, apiTools } from './api-tools.ts';
import { DocsPages } from './docs-pages.ts';

type Options = { allowWrites?: string[]; list?: boolean };

/** `mcp`. */
export function addMcpCommand(program: Command, host: Host): void {
  const command = program
    .command('mcp')
    .description('give a language model the documentation and the API, over standard input and output')
    .option('--allow-writes <list>', 'also these tools, which change something, such as update_video', words)
    .option('--list', 'print the tools that the key allows, and end')
    .addHelpText(
      'after',
      `
This is a server of the Model Context Protocol. The configuration of a program that uses language models names it:
  { "mcpServers": { "framelane": { "command": "npx", "args": ["--yes", "@framelane/cli", "mcp", "--profile", "mcp"] } } }
Give it a key of its own that can only read: framelane login --read-only --profile mcp`,
    );
  apiCommand(command, host, async ({ connection, client, output }, options: Options) => {
    const tools = await allowedTools(client, host.signal);
    const chosen = chosenTools(tools, options.allowWrites ?? []);
    if (options.list) {
      output.result(
        tools.map(({ name, title, reads }) => ({ name, title, writes: !reads })),
        describe,
      );
      return;
    }
    const parts = {
      version: ownVersion(),
      client,
      tools: chosen,
      docs: new DocsPages(connection.baseUrl, host.signal),
    };
    // They take longer to load than all the rest.
    const { serveStdio } = await import('@modelcontextprotocol/server/stdio');
    const { createMcpServer } = await import('./mcp-server.ts');
    const server = serveStdio(() => createMcpServer(parts));
    const { signal } = host;
    // The program that started this one closes standard input when it ends.
    await Promise.race([once(host.stdin, 'end', { signal }), once(host.stdin, 'close', { signal })]).catch(
      () => {},
    );
    await server.close();
  });
}

/** The tools that the key allows, by the description that the installation serves. */
async function allowedTools(client: FramelaneClient, signal: AbortSignal): Promise<ApiTool[]> {
  const { permissions } = await client.account.whoami({ signal });
  const { data } = await client.GET('/openapi.json', { signal });
  const document = data as ApiDocument | undefined;
  if (document?.paths === undefined) throw new CliError('The installation serves no description of its API.');
  return apiTools(document, permissions);
}

/** All tools that read, and the named ones that write. */
export function chosenTools(tools: readonly ApiTool[], writes: readonly string[]): ApiTool[] {
  const writing = tools.filter(({ reads }) => !reads).map(({ name }) => name);
  const unknown = writes.find((name) => !writing.includes(name));
  if (unknown !== undefined)
    throw new UsageError(
      `The key does not allow a tool "${unknown}" that writes. ${writing.length === 0 ? 'It allows none.' : `It allows: ${writing.join(', ')}.`}`,
    );
  return tools.filter(({ name, reads }) => reads || writes.includes(name));
}

function describe(tools: readonly { name: string; title: string; writes: boolean }[]): string {
  return table(
    ['TOOL', 'WRITES', 'WHAT IT DOES'],
    tools.map(({ name, title, writes }) => [name, writes ? 'yes' : 'no', title]),
  );
}
