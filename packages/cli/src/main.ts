#!/usr/bin/env node
import { processHost } from './process-host.ts';
import { runCli } from './program.ts';

const host = processHost();
const exitCode = await runCli(process.argv.slice(2), host);
host.end(exitCode);
