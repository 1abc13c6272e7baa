import { type Command, InvalidArgumentError, Option } from 'commander'
import type { DocumentOptions } from '../input/options.js'
import type { Format } from '../output/output.js'

type Run<O> = (options: O, ...operands: string[]) => number | Promise<number>

/**
 * Returns the action of a command: loads its module, runs it with the command's and global options, and sets
 * the exit code to its result.
 */
export function runs<O>(load: () => Promise<Run<O>>): (this: Command) => Promise<void> {
  return async function act(this: Command): Promise<void> {
    const run = await load()
    process.exitCode = await run(this.optsWithGlobals<object>() as O, ...this.args)
  }
}

/**
 * Adds the required document of a command, as the last argument or with `-c`. Not a required option of
 * commander, which would be reported before misspelt options.
 */
export function withDocument(command: Command): Command {
  return command
    .argument('[document]', 'document file, same as -c')
    .option('-c, --config <file>', 'document file; - reads from stdin')
    .hook('preAction', (_program, run) => takeDocument(run))
}

function takeDocument(command: Command): void {
  const { config } = command.optsWithGlobals<Partial<DocumentOptions>>()
  const operand = command.args[command.registeredArguments.length - 1]
  if (operand !== undefined && config !== undefined)
    command.error(`error: two documents given, '${operand}' and '${config}' (-c); name only one`)
  if (operand === undefined && config === undefined)
    command.error(`error: no document given; name one, for example ${commandPath(command)} gateway.yaml`)
  command.setOptionValue('config', config ?? operand)
}

/** Returns the full name of a command, such as `gw routes list`. */
function commandPath(command: Command): string {
  const words = command.registeredArguments
    .filter((argument) => argument.required)
    .map((argument) => argument.name().toUpperCase())
  const names: string[] = []
  for (let one: Command | null = command; one !== null; one = one.parent) names.unshift(one.name())
  return [...names, ...words].join(' ')
}

/**
 * Adds a required option. It is checked after the other options, so that misspelt ones are reported first.
 */
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

/** Makes a command the default of its group, and reports unknown subcommands. */
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
  const option = new Option('-o, --output <format>', 'output format')
  return command.addOption(option.choices(formats).default(formats[0]))
}

/** Adds an example to the help of a command. */
export function withExample(command: Command, ...lines: readonly string[]): Command {
  const heading = lines.length === 1 ? 'Example' : 'Examples'
  return command.addHelpText('after', `\n${heading}:\n${lines.map((line) => `  ${line}`).join('\n')}`)
}

/** Returns a parser for integers within bounds. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (number >= least && number <= most) return number
    throw new InvalidArgumentError(`write a whole number from ${least} to ${most}`)
  }
}

/** Collects the values of a repeatable option. */
export function collect(value: string, before?: readonly string[] | false): string[] {
  return [...(before || []), value]
}
