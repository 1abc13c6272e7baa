import { printText } from '../output/output.js'

/**
 * Completion scripts by shell. They call gw on every completion, so that they match the installed version.
 */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_gw_complete() {
  local line
  COMPREPLY=()
  while IFS=$'\\t' read -r line _; do
    [[ -n $line ]] && COMPREPLY+=("$line")
  done < <(gw __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _gw_complete gw
`,
  zsh: `#compdef gw
_gw() {
  local line
  local -a candidates
  for line in "\${(@f)$(gw __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && candidates+=("\${line/$'\\t'/:}")
  done
  if (( \${#candidates} )); then
    _describe gw candidates
  else
    _files
  fi
}
compdef _gw gw
`,
  fish: `function __gw_candidates
  set -l words (commandline -opc)
  set -e words[1]
  gw __complete -- $words (commandline -ct) 2>/dev/null
end
complete -c gw -a '(__gw_candidates)'
`,
}

/** Prints the completion script of a shell, whose name has been checked. */
export function printScript(_options: object, shell: string): void {
  printText(SCRIPTS[shell] ?? '')
}
