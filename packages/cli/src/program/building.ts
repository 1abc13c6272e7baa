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

/** Adds `-c`, which a command cannot do without. */
export function withDocument(command: Command): Command {
  return command.requiredOption('-c, --config <file>', 'the document')
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
export function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value]
}
