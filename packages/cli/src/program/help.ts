import { type Command, Help, type Option } from 'commander'

const EXIT_CODES: readonly (readonly [code: number, meaning: string])[] = [
  [0, 'done or nothing to do'],
  [1, 'failed'],
  [2, 'lint, fmt --check, diff --exit-code or bench doctor found something'],
  [3, 'invalid configuration'],
  [4, 'not authorised'],
  [5, 'gateway, controller or cluster unreachable'],
  [6, 'rolled back'],
  [7, 'assertion failed'],
  [64, 'wrong usage'],
]

/** Sections at the end of `gw --help`, which the manual page also contains. */
export const SECTIONS: Readonly<Record<string, readonly string[]>> = {
  'Exit codes': EXIT_CODES.map(([code, meaning]) => `${String(code).padEnd(2)}  ${meaning}`),
  Environment: [
    'GW_SERVER, GW_TOKEN    gateway and its token; default http://127.0.0.1:9901',
    'GW_CONTROL_SERVER      controller; default http://127.0.0.1:9910',
    'NO_COLOR, FORCE_COLOR  turn colours off or on',
  ],
}

/** Groups of commands that use --server. */
const SERVER_GROUPS: ReadonlySet<string> = new Set(['Running gateway:', 'Fleet:'])
/** Width of examples, without indentation and backslash. */
const EXAMPLE_WIDTH = 74

/** Properties of a command that its help shows. */
export interface Described extends Command {
  /** True if the command uses --server; null: as the command above it, or its group. */
  readonly server: boolean | null
  /** Long names of options that the command takes from the command above it. */
  readonly inherited: readonly string[]
  readonly parent: Described | null
}

/** Help without the options of other commands. Lists of commands contain only names, so that descriptions fit. */
export class GwHelp extends Help {
  override minWidthToWrap = 20

  override subcommandTerm(command: Command): string {
    return command.name()
  }

  override visibleOptions(command: Command): Option[] {
    const { inherited, parent } = command as Described
    const above = parent?.options.filter(({ long }) => inherited.includes(long ?? '')) ?? []
    return [...super.visibleOptions(command), ...above]
  }

  /** Returns the global options that have an effect on a command. Its help names them, and completion offers them. */
  override visibleGlobalOptions(command: Command): Option[] {
    const names = usesServer(command as Described) ? ['--server', '--token-file', '--quiet'] : ['--quiet']
    let root = command
    while (root.parent !== null) root = root.parent
    return root === command ? [] : root.options.filter(({ long }) => names.includes(long ?? ''))
  }
}

/** Returns the last lines of a help page. */
export function helpEnd(command: Described): string {
  if (command.parent !== null) return `\nGlobal options: ${globalNames(command).join(', ')}; see gw --help`
  const sections = Object.entries(SECTIONS).map(([title, lines]) => `\n${title}:\n${indented(lines)}`)
  return sections.join('\n')
}

/** Returns the broken examples of a command as a section of its help. */
export function exampleText(lines: readonly string[]): string {
  const heading = lines.length === 1 ? 'Example' : 'Examples'
  return `\n${heading}:\n${indented(lines)}`
}

/** Breaks a long command line before options, with backslashes, so that it can still be pasted. */
export function wrappedExample(line: string): string {
  const lines: string[] = []
  for (const part of line.split(/ (?=-)/)) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + part.length < EXAMPLE_WIDTH) lines[lines.length - 1] += ` ${part}`
    else lines.push(part)
  }
  return lines.join(' \\\n      ')
}

function globalNames(command: Described): string[] {
  return new GwHelp().visibleGlobalOptions(command).map((option) => option.long ?? '')
}

function usesServer(command: Described): boolean {
  const { server, parent } = command
  if (server !== null || parent === null) return server ?? false
  return parent.parent === null ? SERVER_GROUPS.has(command.helpGroup()) : usesServer(parent)
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}`).join('\n')
}
