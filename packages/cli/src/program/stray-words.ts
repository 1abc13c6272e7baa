import type { Command } from 'commander'

/** Options that accept a word of this form, the most likely first. The first matching form counts. */
const FORMS: readonly (readonly [form: RegExp, options: readonly string[]])[] = [
  [/^https?:\/\//, ['--url', '--upstream', '--elasticsearch', '--control', '--server']],
  [/^[\w.-]+:\d+$/, ['--listen', '--host', '--client', '--server']],
  [/\.(ya?ml|json)$/i, ['--config', '--request', '--file']],
  [/^[1-5](\d\d|xx)$/i, ['--status', '--to', '--rps', '--last', '--delay', '--seconds']],
  [/^\d+$/, ['--to', '--rps', '--delay', '--last', '--limit', '--seconds', '--workers']],
  [/^\d+(ms|s|m|h|d)$/, ['--since', '--for', '--timeout', '--overlap', '--expires', '--retention']],
  [/^\d+%$/, ['--canary', '--quorum']],
  [/^W\d$/, ['--tier']],
  [/^[A-Z]+$/, ['--method']],
  [/^\//, ['--path', '--dir', '--data-dir', '--store', '--key', '--prefix']],
  [/^[\w.*-]+\/\S*$/, ['--key', '--dir', '--store', '--config']],
  [/^[a-z][\w.*-]*$/i, ['--group', '--route', '--team', '--name', '--user', '--id']],
  [/./, ['--note', '--where']],
]

/** Returns the option with this word as its value, such as `--to 3`, or null if the command has no fitting option. */
export function optionForWord(word: string, command: Command): string | null {
  const [, names = []] = FORMS.find(([form]) => form.test(word)) ?? []
  const help = command.createHelp()
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)]
  const known = new Set(options.filter(({ required }) => required).map(({ long }) => long))
  const name = names.find((long) => known.has(long))
  if (name === undefined) return null
  const value = name === '--server' && !word.includes('://') ? `http://${word}` : word
  return `${name} ${/\s/.test(value) ? `'${value}'` : value}`
}
