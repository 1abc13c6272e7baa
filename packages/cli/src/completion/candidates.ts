import { visibleText } from '@sluice/core'
import type { Command, Option } from 'commander'
import { printText } from '../output/output.js'

/** A possible completion. */
export interface Candidate {
  readonly text: string
  readonly description: string
}

/** Prints the completions of the last word, one per line, with a tab before the description. */
export async function printCandidates(program: Command, words: readonly string[]): Promise<void> {
  const fixed = candidates(program, words)
  const all = fixed.length > 0 ? fixed : await namedCandidates(program, words)
  for (const { text, description } of all) printText(`${text}\t${description}\n`)
}

/** Returns names from this installation and from the running gateway. */
async function namedCandidates(program: Command, words: readonly string[]): Promise<Candidate[]> {
  const last = words.at(-1) ?? ''
  const { command, operands, open } = position(program, words.slice(0, -1))
  const { namesFor } = await import('./names.js')
  const names = await namesFor(command, { option: open?.long ?? null, operands }, words)
  return choices(names.map(visibleText)).filter(({ text }) => text.startsWith(last))
}

/** Returns the completions of the last word; empty if anything is allowed, such as a file. */
export function candidates(program: Command, words: readonly string[]): Candidate[] {
  const last = words.at(-1) ?? ''
  const { command, operands, open } = position(program, words.slice(0, -1))
  return possible(command, { last, operands, open }).filter(({ text }) => text.startsWith(last))
}

interface Position {
  readonly command: Command
  /** Number of arguments so far. */
  readonly operands: number
  /** Option whose value is being completed, or null. */
  readonly open: Option | null
}

function position(program: Command, words: readonly string[]): Position {
  let command = program
  let operands = 0
  let open: Option | null = null
  for (const word of words) {
    if (open !== null) open = null
    else if (word.startsWith('-')) open = openedBy(word, command)
    else {
      const child = command.commands.find((one) => one.name() === word || one.aliases().includes(word))
      if (child === undefined) operands++
      else command = child
    }
  }
  return { command, operands, open }
}

function possible(
  command: Command,
  { last, operands, open }: Omit<Position, 'command'> & { readonly last: string },
): Candidate[] {
  if (open !== null) return choices(open.argChoices)
  if (last.startsWith('-')) return optionsOf(command).map(optionCandidate)
  const visible = command.createHelp().visibleCommands(command)
  const children = visible.map((one) => ({ text: one.name(), description: one.description() }))
  return children.length > 0 ? children : choices(command.registeredArguments[operands]?.argChoices)
}

function openedBy(word: string, command: Command): Option | null {
  const option = optionsOf(command).find((one) => one.short === word || one.long === word)
  return option !== undefined && (option.required || option.optional) ? option : null
}

/** Returns the options of a command, including global ones. */
function optionsOf(command: Command): readonly Option[] {
  const help = command.createHelp()
  const all = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)]
  return command.parent === null ? help.visibleOptions(command) : all
}

function optionCandidate(option: Option): Candidate {
  return { text: option.long ?? option.short ?? '', description: option.description }
}

function choices(values: readonly string[] | undefined): Candidate[] {
  return (values ?? []).map((text) => ({ text, description: '' }))
}
