import { Command, type HelpContext, InvalidArgumentError, Option } from 'commander'
import { defaultDocument } from '../input/default-document.js'
import type { DocumentOptions } from '../input/options.js'
import { EXIT } from '../output/failure.js'
import type { Format } from '../output/output.js'
import { exampleText, GwHelp, wrappedExample } from './help.js'
import { optionForWord } from './stray-words.js'

/** Exported for `gw bench`, which would otherwise load a second copy of commander. */
export { InvalidArgumentError }

/** Implementation of a command. It returns its exit code; nothing is success. */
type Run<O> = (options: O, ...operands: string[]) => number | void | Promise<number | void>
type Load<O> = () => Promise<Run<O>>

/** A command of `gw`. Its methods add what several commands share. */
export class GwCommand extends Command {
  declare parent: GwCommand | null
  /** Command lines, broken to fit into the help. */
  readonly examples: string[] = []
  readonly inherited: string[] = []
  server: boolean | null = null

  override createHelp(): GwHelp {
    return new GwHelp()
  }

  constructor(name?: string) {
    super(name)
    // `refuseStrayWords` reports them, with the option that was meant.
    this.allowExcessArguments(true)
  }

  override createCommand(name?: string): GwCommand {
    return new GwCommand(name)
  }

  /** Prints the help. Reports an unknown subcommand, as in `gw plugin pack --help` and `gw help plugin pack`. */
  override outputHelp(given?: HelpContext | ((text: string) => string)): void {
    const context = given as HelpContext | undefined
    const [word, ...rest] = helpWords(this)
    const isGroup = this.commands.length > 0 && this.registeredArguments.length === 0
    const child = this.commands.find((one) => one.name() === word || one.aliases().includes(word!))
    if (!isGroup || word === undefined || word.startsWith('-')) super.outputHelp(context)
    else if (child !== undefined) {
      child.args = rest
      child.outputHelp(context)
    } else {
      this.args = [word]
      // Commander's own report, which its types do not declare.
      ;(this as unknown as { readonly unknownCommand: () => never }).unknownCommand()
    }
  }

  /** Adds options that several commands share. */
  with(add: (command: GwCommand) => unknown): this {
    add(this)
    return this
  }

  /** Adds an option with a list of values. */
  choice(flags: string, description: string, values: readonly string[], standard?: string): this {
    return this.addOption(new Option(flags, description).choices(values).default(standard))
  }

  /** Adds `-o`; the first format is the default. */
  output(...formats: readonly [Format, ...Format[]]): this {
    return this.choice('-o, --output <format>', 'output format', formats, formats[0])
  }

  /**
   * Adds the document of a command, as the last argument, with `-c`, or with `-f` as in kubectl. Default: gateway.yaml
   * in the working directory.
   * @param isNeeded Returns false if the command runs without a document.
   */
  document(isNeeded: (run: Command) => boolean = () => true): this {
    return this.argument('[document]', 'document file, same as -c; default gateway.yaml')
      .option('-c, --config <file>', 'document file; - reads from stdin')
      .addOption(new Option('-f, --file <file>', 'same as -c').hideHelp())
      .hook('preAction', (_program, run) => {
        if (isNeeded(run)) takeDocument(run)
      })
  }

  /** Adds a required option. It is checked after the other options, so that misspelt ones are reported first. */
  needs<T>(
    flags: string,
    { description, parse }: { readonly description: string; readonly parse: (text: string) => T },
  ): this {
    const option = new Option(flags, description).argParser(parse)
    return this.addOption(option).hook('preAction', (_program, run) => {
      if (run.getOptionValue(option.attributeName()) === undefined)
        run.error(`error: required option '${flags}' not specified`)
    })
  }

  /** Adds a subcommand with its description. */
  subcommand(name: string, description: string): GwCommand {
    return this.command(name).description(description)
  }

  /** Adds the default command of a group. It reports unknown subcommands. */
  defaultCommand(name: string, description: string): GwCommand {
    const command = this.command(name, { isDefault: true }).description(description)
    return command.hook('preAction', (_program, run) => refuseWord(this, run))
  }

  /** Refuses an option together with its negation, such as `--role` and `--no-role`. */
  override addOption(option: Option): this {
    super.addOption(option)
    if (!option.negate) return this
    const pair = [option.name(), option.name().replace(/^no-/, '')]
    let given: string | null = null
    for (const name of pair)
      this.on(`option:${name}`, () => {
        given ??= name
        if (given !== name) this.error(`error: option '--${given}' cannot be used with option '--${name}'`)
      })
    return this
  }

  /** Refuses more than one of these options. @param names attribute names of options */
  atMostOne(...names: readonly string[]): this {
    for (const [i, name] of names.entries()) this.excludes(name, ...names.slice(i + 1))
    return this
  }

  /** Refuses an option together with any of the others. */
  excludes(name: string, ...others: readonly string[]): this {
    this.#optionOf(name).conflicts([...others])
    return this
  }

  /** Refuses options without the option that they depend on. */
  onlyWith(name: string, ...others: readonly string[]): this {
    const { long: needed } = this.#optionOf(name)
    const options = others.map((other) => this.#optionOf(other))
    return this.hook('preAction', (_program, run) => {
      if (run.getOptionValueSourceWithGlobals(name) !== undefined) return
      const alone = options.find((one) =>
        ['cli', 'env'].includes(run.getOptionValueSourceWithGlobals(one.attributeName()) ?? ''),
      )
      if (alone !== undefined) run.error(`error: ${alone.long} needs ${needed}`)
    })
  }

  /** @throws Error if this command has no such option, which is a mistake in its declaration */
  #optionOf(name: string): Option {
    const option = this.options.find((one) => one.attributeName() === name)
    if (option === undefined) throw new Error(`${this.name()} has no option ${name}`)
    return option
  }

  example(...lines: readonly string[]): this {
    this.examples.push(...lines.map(wrappedExample))
    return this.addHelpText('after', () => exampleText(this.examples))
  }

  /** Lists options in the help that the command takes from the command above it. */
  inherits(...names: readonly string[]): this {
    this.inherited.push(...names)
    return this
  }

  /** Sets if the command uses `--server`. By default, the group of the command decides. */
  usesServer(uses: boolean): this {
    this.server = uses
    return this
  }

  /** Loads the module of the command and runs it with the command's and global options. Sets the exit code. */
  runs<O>(load: Load<O>): this {
    return this.action(function act(this: Command) {
      return runCommand(this, load)
    })
  }

  /** Runs the action of the place that the options name: `--kubernetes`, `--group`, or one gateway. */
  runsAt<A, B, C>({ cluster, group, gateway }: Places<A, B, C>): this {
    return this.action(function act(this: Command) {
      const options = this.optsWithGlobals<{ readonly kubernetes?: boolean; readonly group?: string }>()
      if (options.kubernetes === true && options.group !== undefined)
        this.error(`error: option '--group <name>' cannot be used with option '--kubernetes'`)
      if (group !== undefined && options.group !== undefined) return runCommand(this, group)
      return options.kubernetes === true && cluster !== undefined
        ? runCommand(this, cluster)
        : runCommand(this, gateway)
    })
  }
}

/** Actions of a command by the place that it works on. */
interface Places<A, B, C> {
  readonly cluster?: Load<A>
  readonly group?: Load<B>
  readonly gateway: Load<C>
}

async function runCommand<O>(command: Command, load: Load<O>): Promise<void> {
  refuseStrayWords(command)
  const run = await load()
  process.exitCode = (await run(command.optsWithGlobals<object>() as O, ...command.args)) ?? EXIT.ok
}

function takeDocument(command: Command): void {
  const { config: named, file } = command.optsWithGlobals<
    Partial<DocumentOptions> & { readonly file?: string }
  >()
  const operand =
    command.args[command.registeredArguments.length - 1] ?? (named === undefined ? undefined : file)
  const config = named ?? file
  if (operand !== undefined && config !== undefined)
    command.error(`error: two documents given, '${operand}' and '${config}' (-c); name only one`)
  command.setOptionValue('config', config ?? operand ?? defaultDocument(commandPath(command)))
}

/** Returns the full name of a command, such as `gw routes list`. */
function commandPath(command: Command): string {
  const words = command.registeredArguments
    .filter((argument) => argument.name() !== 'document')
    .map((argument) => argument.name().toUpperCase())
  const names: string[] = []
  for (let one: Command | null = command; one !== null; one = one.parent) names.unshift(one.name())
  return [...names, ...words].join(' ')
}

/** Reports a word that is not a subcommand of the group, with a similar one or the option that was meant. */
async function refuseWord(group: Command, run: Command): Promise<void> {
  const [word] = run.args
  if (word === undefined) return
  const { closestWord } = await import('@sluice/config')
  const names = group.commands.map((one) => one.name())
  const meant = closestWord(word, names) ?? optionForWord(word, run)
  group.error(`error: unknown command '${word}'${hint(meant)}`)
}

/** Reports the first argument that a command does not take. */
function refuseStrayWords(command: Command): void {
  const { args, registeredArguments } = command
  const word = registeredArguments.at(-1)?.variadic === true ? undefined : args[registeredArguments.length]
  if (word === undefined) return
  command.error(`error: unexpected argument '${word}'${hint(optionForWord(word, command))}`)
}

function hint(meant: string | null): string {
  return meant === null ? '' : `\n(Did you mean ${meant}?)`
}

/** Returns the words after a command in `gw help COMMAND…` or `gw COMMAND… --help`. */
function helpWords({ args, parent }: Command): readonly string[] {
  if (args[0] === 'help') return args.slice(1)
  return args.length === 0 && parent?.args[0] === 'help' ? parent.args.slice(2) : args
}

/** Returns a parser for integers within bounds. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (number >= least && number <= most) return number
    throw new InvalidArgumentError(`write a whole number from ${least} to ${most}`)
  }
}

/** Parses a share such as `50%` to a number. */
export function percent(text: string): number {
  const [, number] = /^(\d{1,3})%$/.exec(text) ?? []
  if (number !== undefined && Number(number) <= 100) return Number(number)
  throw new InvalidArgumentError('use for example 50%')
}

/** Parses a time such as `90s` or `5m` to milliseconds. */
export function shortTime(text: string): number {
  const [, number, unit] = /^(\d{1,6})(s|m)$/.exec(text) ?? []
  if (number === undefined) throw new InvalidArgumentError('use for example 90s or 5m')
  return Number(number) * (unit === 'm' ? 60_000 : 1000)
}

/** Collects the values of a repeatable option. */
export function collect(value: string, before?: readonly string[] | false): string[] {
  return [...(before || []), value]
}
