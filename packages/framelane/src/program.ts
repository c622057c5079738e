import { VERSION } from '@framelane/service-kit/version';
import { Command } from 'commander';
import { addDoctorCommand } from './doctor/doctor-command.ts';
import { INSTALLED } from './installed.ts';
import { messageForMissing, missingPrograms } from './machine/missing-programs.js';

/** Runs the command line `framelane …`. */
export async function run(args: readonly string[]): Promise<void> {
  const program = createProgram();
  const isOwn = program.commands.some((command) => command.name() === args[0]);
  if (isOwn) await program.parseAsync(args, { from: 'user' });
  else await runAsClient(program, args);
}

/** The commands of @framelane/cli, which use the API. They handle signals in another way than services. */
async function runAsClient(program: Command, args: readonly string[]): Promise<void> {
  const [{ addCommands, runProgram }, { processHost }] = await Promise.all([
    import('@framelane/cli'),
    import('@framelane/cli/process-host'),
  ]);
  const host = processHost();
  addCommands(program, host);
  host.end(await runProgram(program, args, host));
}

/** The commands of the server. */
export function createProgram(): Command {
  const program = new Command('framelane')
    .description('A video service that you run yourself. On one machine: framelane start')
    .version(VERSION, '--version', 'print the version')
    .enablePositionalOptions()
    .showHelpAfterError('(add --help to list commands and options)')
    .helpCommand(false);
  // Each command loads its own code only.
  forwarding(program, 'start', 'run everything on this machine until Ctrl-C', async (rest) => {
    const missing = missingPrograms({ forTests: false });
    // With arguments, it only prints help or refuses them.
    if (rest.length === 0 && missing.programs.length > 0) {
      process.stderr.write(`${messageForMissing(missing)}\n`);
      process.exitCode = 1;
      return;
    }
    const { runNode } = await import('@framelane/single-node/run-node');
    await runNode(rest, INSTALLED);
  });
  forwarding(program, 'admin', 'manage workspaces, keys, limits and backups', async (rest) => {
    const { runNodeAdmin } = await import('@framelane/single-node/cli/run-node-admin');
    process.exitCode = await runNodeAdmin(rest, INSTALLED);
  });
  addDoctorCommand(program, INSTALLED);
  program
    .command('rotate-secret')
    .description('replace the secret that seals content keys; stop the node first')
    .action(async () => {
      const { runRotation } = await import('@framelane/single-node/cli/run-rotation');
      process.exitCode = await runRotation(INSTALLED);
    });
  addServices(program);
  return program;
}

/** The services on their own, on PostgreSQL, RabbitMQ and S3. */
function addServices(program: Command): void {
  const controlPlane = program
    .command('control-plane')
    .description('run a control plane on its own; it needs PostgreSQL, RabbitMQ and S3')
    .enablePositionalOptions()
    .action(async () => {
      const { runControlPlane } = await import('@framelane/control-plane/run-control-plane');
      await runControlPlane();
    });
  forwarding(
    controlPlane,
    'admin',
    'as framelane admin, with the settings of a control plane',
    async (rest) => {
      const { runControlPlaneAdmin } = await import('@framelane/control-plane/admin/run-control-plane-admin');
      process.exitCode = await runControlPlaneAdmin(rest, 'framelane control-plane admin');
    },
  );
  program
    .command('engine')
    .description('run an engine on its own: it receives uploads and transcodes')
    .action(async () => {
      const { runEngine } = await import('@framelane/engine/run-engine');
      await runEngine();
    });
}

/** Adds a command that reads its arguments itself, `--help` included. */
function forwarding(
  parent: Command,
  name: string,
  description: string,
  work: (args: string[]) => Promise<void>,
): void {
  parent
    .command(name)
    .description(description)
    .usage('[arguments]')
    .argument('[arguments...]')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(work);
}
