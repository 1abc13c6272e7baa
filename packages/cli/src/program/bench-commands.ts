import { Failure } from '../output/failure.js'
import type { GwCommand } from './gw-command.js'

type AddCommands = (bench: GwCommand) => void

/** Typed as string so that the compiler does not resolve the package, which imports this one. */
const PACKAGE: string = '@sluice/bench/commands'
const INSTALL =
  'gw bench needs the package @sluice/bench, which production images do not contain; run `npm install @sluice/bench` next to @sluice/cli'

const addCommands = await loadCommands()

/** Adds `gw bench`: its commands if the package is installed, otherwise a hint how to install it. */
export function addBenchCommands(program: GwCommand): void {
  program.commandsGroup('Benchmarks:')
  const bench = program.subcommand('bench', 'measure the gateway, compare runs and size deployments')
  if (addCommands !== null) addCommands(bench)
  else
    bench
      .argument('[words...]')
      .allowUnknownOption()
      .addHelpText('after', `\n${INSTALL}\n\nExample:\n  gw bench`)
      .action(() => {
        throw new Failure(INSTALL)
      })
}

async function loadCommands(): Promise<AddCommands | null> {
  try {
    return ((await import(PACKAGE)) as { readonly addCommands: AddCommands }).addCommands
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'@sluice/bench'`)) return null
    throw error
  }
}
