import type { Command } from 'commander';
import type { ApiKeyRecord } from '../api-keys/api-key-record.ts';
import type { ApiKeysService, CreatedApiKey } from '../api-keys/api-keys.service.ts';
import { PERMISSIONS } from '../api-keys/permissions.ts';
import type { Environment, Permission } from '../db/schema.ts';
import { readCursor } from '../http/pagination.ts';
import { parseFuture, parseName } from './arguments.ts';
import {
  type CommandAction,
  chosenWorkspace,
  environmentOption,
  PERMISSIONS_OPTION,
  textTable,
  WORKSPACE_OPTION,
} from './command.ts';

const PAGE = 100;

type Options = { json?: boolean; workspace?: string };
type CreateOptions = Options & {
  name: string;
  environment: Environment;
  permissions?: Permission[];
  expiresAt?: Date;
};

/** `key create`, `key list` and `key revoke`. */
export function addKeyCommands(program: Command, action: CommandAction): void {
  const key = program.command('key').description('create, list and revoke API keys');

  key
    .command('create')
    .description('create an API key and print it; it is not shown again')
    .requiredOption('--name <name>', 'what the key is for (required)', parseName)
    .option(...WORKSPACE_OPTION)
    .addOption(
      environmentOption(
        'environment of the resources that the key creates; test videos are deleted after TEST_VIDEO_HOURS',
      ),
    )
    .option(...PERMISSIONS_OPTION)
    .option(
      '--expires-at <time>',
      'when the key expires: a day, such as 2027-01-01 (from 0:00 UTC on), or a time, such as 2027-01-01T12:00:00Z (default: never)',
      parseFuture,
    )
    .option('--json', 'print JSON')
    .action(
      action(async ({ workspaces, keys }, options: CreateOptions) => {
        const workspaceId = await chosenWorkspace(workspaces, options.workspace);
        const { name, environment, permissions = PERMISSIONS, expiresAt = null } = options;
        const created = await keys.create({
          workspaceId,
          name,
          environment,
          permissions,
          createdBy: null,
          expiresAt,
        });
        return { workspaceId, ...created };
      }, describeCreated),
    );

  key
    .command('list')
    .description('list the API keys of a workspace, the newest first')
    .option(...WORKSPACE_OPTION)
    .option('--json', 'print JSON')
    .action(
      action(
        async ({ workspaces, keys }, options: Options) =>
          everyKey(keys, await chosenWorkspace(workspaces, options.workspace)),
        describeKeys,
      ),
    );

  key
    .command('revoke')
    .description('revoke an API key, even the last one')
    .argument('<id>', 'its id, as in the list')
    .option('--json', 'print JSON')
    .action((id: string, options: Options, command: Command) =>
      action(
        async ({ keys }) => {
          await keys.revokeAny(id);
          return { id, status: 'revoked' };
        },
        () => `Revoked ${id}.\n`,
      )(options, command),
    );
}

async function everyKey(keys: ApiKeysService, workspaceId: string): Promise<ApiKeyRecord[]> {
  const all: ApiKeyRecord[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const after = cursor === undefined ? undefined : readCursor(cursor);
    const page = await keys.list(workspaceId, { after, limit: PAGE });
    all.push(...page.data);
    cursor = page.nextCursor;
  }
  return all;
}

function describeCreated(key: CreatedApiKey & { workspaceId: string }): string {
  return `
  API key      ${key.secret}   (store it now: it is not shown again)
  Id           ${key.id}
  Workspace    ${key.workspaceId}
  Environment  ${key.environment}
  Permissions  ${key.permissions.join(', ')}
  Expires      ${key.expiresAt ?? 'never'}

`;
}

function describeKeys(keys: readonly ApiKeyRecord[]): string {
  return textTable(
    ['ID', 'KEY', 'STATUS', 'CREATED', 'CREATED BY', 'EXPIRES', 'LAST USED', 'NAME', 'PERMISSIONS'],
    keys.map((key) => [
      key.id,
      `${key.prefix}…${key.last4}`,
      key.status,
      key.createdAt,
      key.createdBy ?? '-',
      key.expiresAt ?? 'never',
      key.lastUsedAt ?? 'never',
      key.name,
      key.permissions.length === PERMISSIONS.length ? 'all' : key.permissions.join(','),
    ]),
  );
}
