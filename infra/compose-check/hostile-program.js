/** A bash script that runs instead of ffmpeg in the container of an engine and reports what it can reach. */

/** It starts no processes and lists no folders, because sandboxes forbid that. */
const SCRIPT = `
reached=
for process in /proc/{1..199}; do
  [[ $process == /proc/$$ ]] && continue
  text=
  read -r -N 100000 text <$process/environ
  [[ $text == *SECRET* ]] && reached+=" $process/environ"
done
read -r -N 1 _ </var/lib/framelane/tools/ffmpeg.seccomp && reached+=' work'
read -r -N 1 _ </etc/passwd && reached+=' /etc/passwd'
read -r -N 1 _ </app/package.json && reached+=' /app/package.json'
exec 3<>/dev/tcp/127.0.0.1/8091 && reached+=' network'
kill -0 1 && reached+=' signals'
echo "reached:$reached"
`;

/**
 * Runs a changed copy of the script with which the engine launches ffmpeg. The copy launches bash instead, and its parent must be this
 * shell instead of the engine. The copy runs as a child process, because setsid forks in a session leader.
 */
export const CONFINED_COMMAND = [
  'sh',
  '-c',
  `cd /var/lib/framelane &&
    sed "s#'[^']*/ffmpeg' \\"#/usr/bin/bash \\"#; s#PPID\\" = [0-9]*#PPID\\" = $$#" tools/ffmpeg >/tmp/hostile &&
    sh /tmp/hostile "$@"; exit $?`,
  'sh',
];

/** The resources that the script reaches without a sandbox, as any program of the engine's user. */
export const REACHED_UNCONFINED = 'work /etc/passwd /app/package.json network signals';

/** The resources that the script reaches when `command` runs it. An empty `command` runs it without a sandbox. */
export async function reached(stack, engine, command) {
  const program = command.length > 0 ? command : ['bash'];
  const printed = await stack.exec(engine, ...program, '-c', SCRIPT);
  const [, list] = printed.match(/^reached:(.*)$/m) ?? [];
  if (list === undefined) throw new Error(`No report from the hostile program: ${printed}`);
  return list.trim();
}
