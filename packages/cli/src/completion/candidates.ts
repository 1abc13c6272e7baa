import { visibleText } from '@sluice/core/visible-text'
import type { Argument, Command, Option } from 'commander'
import { printText } from '../output/output.js'

/** A possible completion. */
export interface Candidate {
  readonly text: string
  readonly description: string
}

/** Printed before the candidates if file names are also possible. */
const FILES = '\tfiles\n'
const FILE_OPTION = /<(file|dir|path)>/
const FILE_ARGUMENT = /^(document|files?|dir|path)$/

/** Prints the completions of the last word, one per line, with a tab before the description. */
export async function printCandidates(program: Command, words: readonly string[]): Promise<void> {
  const place = placeOf(program, words)
  const fixed = candidates(program, words)
  const all = fixed.length > 0 ? fixed : await namedCandidates(place, words)
  if (takesFiles(place)) printText(FILES)
  for (const { text, description } of all) printText(`${text}\t${description}\n`)
}

/** Returns names from this installation and from the running gateway. */
async function namedCandidates(place: Place, words: readonly string[]): Promise<Candidate[]> {
  const { command, operands, open } = place
  if (open === null && place.last.startsWith('-')) return []
  const { namesFor } = await import('./names.js')
  const names = await namesFor(command, { option: open?.long ?? null, operands }, words)
  return matching(place, choices(names.map(visibleText)))
}

/** Returns the completions of the last word that the command tree contains. */
export function candidates(program: Command, words: readonly string[]): Candidate[] {
  const place = placeOf(program, words)
  return matching(place, possible(place))
}

/** True if the last word can be a file name. */
export function takesFiles({ command, operands, open, last }: Place): boolean {
  if (open !== null) return FILE_OPTION.test(open.flags)
  const argument = argumentAt(command, operands.length)
  return !last.startsWith('-') && argument !== undefined && FILE_ARGUMENT.test(argument.name())
}

interface Place {
  readonly command: Command
  /** Arguments so far. */
  readonly operands: readonly string[]
  /** Option whose value is being completed, or null. */
  readonly open: Option | null
  /** Part of the last word before the value, such as `--tier=`. */
  readonly prefix: string
  /** Rest of the last word. */
  readonly last: string
}

/** Finds the place of the last word in the command tree. */
export function placeOf(program: Command, words: readonly string[]): Place {
  let command = program
  let operands: string[] = []
  let open: Option | null = null
  for (const word of words.slice(0, -1)) {
    if (open !== null) open = null
    else if (word.startsWith('-')) open = openedBy(word, command)
    else {
      const child = command.commands.find((one) => one.name() === word || one.aliases().includes(word))
      if (child === undefined) operands.push(word)
      else [command, operands] = [child, []]
    }
  }
  const text = words.at(-1) ?? ''
  const [prefix = '', name = ''] = /^(--[^=]+)=/.exec(text) ?? []
  const joined = open === null && name !== '' ? openedBy(name, command) : null
  if (joined !== null) return { command, operands, open: joined, prefix, last: text.slice(prefix.length) }
  return { command, operands, open, prefix: '', last: text }
}

function matching({ prefix, last }: Place, all: readonly Candidate[]): Candidate[] {
  const found = all.filter(({ text }) => text.startsWith(last))
  return prefix === '' ? found : found.map((one) => ({ ...one, text: prefix + one.text }))
}

function possible({ command, operands, open, last }: Place): Candidate[] {
  if (open !== null) return choices(open.argChoices)
  if (last.startsWith('-')) return visibleOptions(command).map(optionCandidate)
  const visible = command.createHelp().visibleCommands(command)
  const children = visible.map((one) => ({ text: one.name(), description: one.description() }))
  if (children.length > 0 && operands.length === 0) return children
  return choices(argumentAt(command, operands.length)?.argChoices)
}

/** Returns the argument at a position; the last one may take several words. */
function argumentAt(command: Command, position: number): Argument | undefined {
  const { registeredArguments } = command
  const last = registeredArguments.at(-1)
  return registeredArguments[position] ?? (last?.variadic === true ? last : undefined)
}

function openedBy(word: string, command: Command): Option | null {
  const all: Option[] = []
  for (let one: Command | null = command; one !== null; one = one.parent) all.push(...one.options)
  const option = all.find((one) => one.short === word || one.long === word)
  return option !== undefined && (option.required || option.optional) ? option : null
}

/** Returns the options of a command, and the global ones that it uses. */
function visibleOptions(command: Command): readonly Option[] {
  const help = command.createHelp()
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)]
}

function optionCandidate(option: Option): Candidate {
  return { text: option.long ?? option.short ?? '', description: option.description }
}

function choices(values: readonly string[] | undefined): Candidate[] {
  return (values ?? []).map((text) => ({ text, description: '' }))
}
