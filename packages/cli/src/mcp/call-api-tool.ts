import { type FramelaneClient, unwrap } from '@framelane/client';
import type { ApiTool } from './api-tools.ts';

type Call = (path: string, init: object) => Promise<{ data?: string; error?: unknown; response: Response }>;

/** Calls the operation of a tool. Resolves with the text of the response; throws a FramelaneError. */
export async function callApiTool(
  client: FramelaneClient,
  tool: ApiTool,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<string> {
  // The paths of the tools come from the description of the API, not from the types of the client.
  const call = client[tool.method] as unknown as Call;
  const pick = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, args[name]]));
  const text = await unwrap(
    call(tool.path, {
      params: { path: pick(tool.pathNames), query: pick(tool.queryNames) },
      ...(args.body !== undefined && { body: args.body, headers: { 'Content-Type': tool.bodyType } }),
      parseAs: 'text',
      signal,
    }),
  );
  return text || 'Done.';
}
