import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/**
 * Evaluates each line of its input on another Erlang node and prints the value, a text without line breaks such as JSON, or the error, on
 * one line.
 */
const EVALUATE_LINES = `
  Node = list_to_atom(os:getenv("RABBITMQ_NODENAME")),
  Loop = fun(Next) ->
    case io:get_line("") of
      eof -> halt();
      Line ->
        {ok, Tokens, _} = erl_scan:string(Line),
        {ok, Expressions} = erl_parse:parse_exprs(Tokens),
        case rpc:call(Node, erl_eval, exprs, [Expressions, []]) of
          {value, Json, _} -> io:format("~ts~n", [Json]);
          Error -> io:format("error ~0p~n", [Error])
        end,
        Next(Next)
    end
  end,
  Loop(Loop).`;

/** One Erlang virtual machine for all calls to a broker: rabbitmqctl starts one per call, which takes seconds. */
export class ErlangShell {
  readonly #erl: ChildProcess;
  readonly #waiting: ((line: string) => void)[] = [];
  #ended = false;

  /** @param env the environment of the broker, which names the node and has its cookie below HOME. */
  constructor(env: NodeJS.ProcessEnv) {
    const name = `shell-${randomUUID()}@localhost`;
    const options = ['+S', '1:1', '+sbwt', 'none', '-noshell', '-hidden', '-sname', name];
    this.#erl = spawn('erl', [...options, '-eval', EVALUATE_LINES], {
      env,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    // A shell that has ended is reported by the calls.
    this.#erl.stdin?.on('error', () => {});
    const lines = createInterface({ input: this.#erl.stdout as NodeJS.ReadableStream });
    lines.on('line', (line) => this.#waiting.shift()?.(line));
    lines.on('close', () => {
      this.#ended = true;
      for (const resolve of this.#waiting.splice(0)) resolve('error the Erlang shell has ended');
    });
  }

  /** The value of an Erlang expression on the broker. It must be representable in JSON. */
  async evaluate(expression: string): Promise<unknown> {
    if (this.#ended) throw new Error('The Erlang shell has ended');
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#waiting.push(resolve);
    this.#erl.stdin?.write(`rabbit_json:encode(begin ${expression} end).\n`);
    const line = await promise;
    if (line.startsWith('error ')) throw new Error(`${expression}: ${line}`);
    return JSON.parse(line);
  }

  async stop(): Promise<void> {
    if (this.#erl.exitCode !== null || this.#erl.signalCode !== null) return;
    const exited = once(this.#erl, 'exit');
    this.#erl.kill('SIGKILL');
    await exited;
  }
}
