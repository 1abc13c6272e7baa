import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Format } from '../output/output.js'

/** Options of every command that talks to a gateway; they belong to the whole program. */
export interface ServerOptions {
  readonly server?: string
  readonly tokenFile?: string
}

/** The option of commands whose result can be printed in several ways. */
export interface OutputOptions {
  readonly output: Format
}

/** The option of commands that work on a document. */
export interface DocumentOptions {
  readonly config: string
}

type Run<O> = (options: O, ...operands: string[]) => number | Promise<number>

/**
 * The action of a command: loads the module it is in, runs it with the options of the command and the program, and
 * makes what it answers the exit code.
 */
export function runs<O>(load: () => Promise<Run<O>>): (this: Command) => Promise<void> {
  return async function act(this: Command): Promise<void> {
    const run = await load()
    process.exitCode = await run(this.optsWithGlobals<object>() as O, ...this.args)
  }
}

/**
 * Lets a command take its document as the last argument or with `-c`; it cannot do without. Not a required option,
 * because commander would ask for that one before it names an option that is misspelt.
 */
export function withDocument(command: Command): Command {
  return command
    .argument('[document]', 'the document, as with -c')
    .option('-c, --config <file>', 'the document; - reads it from stdin')
    .hook('preAction', (_program, run) => takeDocument(run))
}

function takeDocument(command: Command): void {
  const { config } = command.optsWithGlobals<Partial<DocumentOptions>>()
  const operand = command.args[command.registeredArguments.length - 1]
  if (operand !== undefined && config !== undefined)
    command.error(`error: two documents, '${operand}' and with -c '${config}'; name one`)
  if (operand === undefined && config === undefined)
    command.error(`error: no document; name it, such as ${commandPath(command)} gateway.yaml`)
  command.setOptionValue('config', config ?? operand)
}

/** How a command is called, `gw routes list`. */
function commandPath(command: Command): string {
  const words = command.registeredArguments
    .filter((argument) => argument.required)
    .map((argument) => argument.name().toUpperCase())
  const names: string[] = []
  for (let one: Command | null = command; one !== null; one = one.parent) names.unshift(one.name())
  return [...names, ...words].join(' ')
}

/** Adds an option that the command cannot do without; asked for when the others have been found to be spelt right. */
export function withRequired<T>(
  command: Command,
  flags: string,
  { description, parse }: { readonly description: string; readonly parse: (text: string) => T },
): Command {
  const option = new Option(flags, description).argParser(parse)
  return command.addOption(option).hook('preAction', (_program, run) => {
    if (run.getOptionValue(option.attributeName()) === undefined)
      run.error(`error: required option '${flags}' not specified`)
  })
}

/** What a group of commands does when none of them is named; a word that is none of them is reported. */
export function asDefault(command: Command): Command {
  return command.allowExcessArguments(true).hook('preAction', async (_program, run) => {
    const [word] = run.args
    if (word === undefined) return
    const group = run.parent ?? run
    const { closestWord } = await import('@sluice/config')
    const near = closestWord(
      word,
      group.commands.map((one) => one.name()),
    )
    const hint = near === null ? '' : `\n(Did you mean ${near}?)`
    group.error(`error: unknown command '${word}'${hint}`)
  })
}

/** Adds `-o`; the first format is the default. */
export function withOutput(command: Command, ...formats: readonly [Format, ...Format[]]): Command {
  const option = new Option('-o, --output <format>', 'how to print the result')
  return command.addOption(option.choices(formats).default(formats[0]))
}

/** Adds an example to the help of a command. */
export function withExample(command: Command, ...lines: readonly string[]): Command {
  const heading = lines.length === 1 ? 'Example' : 'Examples'
  return command.addHelpText('after', `\n${heading}:\n${lines.map((line) => `  ${line}`).join('\n')}`)
}

/** Reads a whole number between two bounds. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (number >= least && number <= most) return number
    throw new InvalidArgumentError(`write a whole number from ${least} to ${most}`)
  }
}

/** Collects the values of an option that may be given several times. */
export function collect(value: string, before?: readonly string[] | false): string[] {
  return [...(before || []), value]
}
