import { printText } from '../output/output.js'

/**
 * Completion scripts by shell. They call gw on every completion, so that they match the installed version. A line
 * without a name means that file names are possible too. Names come from gateways and are quoted, never evaluated.
 */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_gw_complete() {
  local word line name files= glue= quote=
  local -a words=()
  COMPREPLY=()
  # Bash splits words at = and :.
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ \${#words[@]} -gt 0 && ( -n $glue || $word == [=:]* ) ]]; then
      words[\${#words[@]}-1]+=$word
    else
      words+=("$word")
    fi
    [[ $word == *[=:] ]] && glue=1 || glue=
  done
  local last=\${words[\${#words[@]}-1]}
  [[ $last == [\\'\\"]* ]] && quote=1
  words=("\${words[@]//[\\\\\\'\\"]/}")
  last=\${last//[\\\\\\'\\"]/}
  local prefix=\${last%"\${last##*[=:]}"}
  while IFS= read -r line; do
    name=\${line%%$'\\t'*}
    if [[ -z $name ]]; then
      files=1
    elif [[ -z $quote ]]; then
      printf -v name %q "\${name#"$prefix"}"
      COMPREPLY+=("$name")
    elif [[ $name != *[!A-Za-z0-9_./:@%+,=-]* ]]; then
      # Other characters may have a meaning between quotes.
      COMPREPLY+=("\${name#"$prefix"}")
    fi
  done < <(gw __complete -- "\${words[@]}" 2>/dev/null)
  [[ -n $files ]] || return 0
  compopt -o filenames 2>/dev/null
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <(compgen -f -- "\${last#"$prefix"}")
}
complete -F _gw_complete gw
`,
  zsh: `#compdef gw
_gw() {
  local line name files=
  local -a candidates
  for line in "\${(@f)$(gw __complete -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}"; do
    name=\${line%%$'\\t'*}
    if [[ -n $name ]]; then
      candidates+=("\${\${name//\\\\/\\\\\\\\}//:/\\\\:}:\${line#*$'\\t'}")
    elif [[ -n $line ]]; then
      files=1
    fi
  done
  (( \${#candidates} )) && _describe gw candidates
  [[ -n $files ]] || return
  compset -P '--[^=]#='
  _files
}
compdef _gw gw
`,
  fish: `function __gw_candidates
  set -l words (commandline -opc)
  set -e words[1]
  # Names are compared without quotes.
  set -l last (string replace -ra -- '["\\'\\\\\\\\]' '' (commandline -ct))
  for line in (gw __complete -- $words $last 2>/dev/null)
    # File names.
    if string match -q -- \\tfiles $line
      set -l prefix (string match -r -- '^--[^=]+=' $last)
      # The option stays in front of the path.
      for path in (__fish_complete_path (string replace -r -- '^--[^=]+=' '' $last))
        echo -- "$prefix$path"
      end
    else
      echo -- $line
    end
  end
end
complete -c gw -f -a '(__gw_candidates)'
`,
}

/** Prints the completion script of a shell, whose name has been checked. */
export function printScript(_options: object, shell: string): void {
  printText(SCRIPTS[shell] ?? '')
}
