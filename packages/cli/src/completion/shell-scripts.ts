/** Scripts that ask this program what can follow, so that they know every command of the installed version. */
export const SHELL_SCRIPTS = {
  bash: `_framelane() {
  local IFS=$'\\n'
  COMPREPLY=($(framelane complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _framelane framelane
`,
  zsh: `#compdef framelane
_framelane() {
  local -a found
  found=(\${(f)"$(framelane complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( \${#found} )); then compadd -a found; else _files; fi
}
compdef _framelane framelane
`,
  // --tokenize: fish 3 does not know --tokens-expanded.
  fish: `function __framelane
  set -l found (framelane complete -- (commandline --tokenize --current-process --cut-at-cursor)[2..] (commandline --current-token) 2>/dev/null)
  if set -q found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline --current-token)
  end
end
complete --command framelane --no-files --arguments '(__framelane)'
`,
} as const;

export type Shell = keyof typeof SHELL_SCRIPTS;

export const SHELLS = Object.keys(SHELL_SCRIPTS) as Shell[];
