import { systemErrorText } from '@sluice/core/system-error'
import { CommanderError } from 'commander'
import { EXIT, type ExitCode, Failure } from './output/failure.js'
import { beginCommand, complain, type Format, printErrors } from './output/output.js'
import { createProgram } from './program.js'

/** Runs `gw` and sets the exit code. @param argv arguments of the process, including the first two */
export async function main(argv: readonly string[], program = createProgram()): Promise<void> {
  beginCommand()
  let details = {}
  try {
    await program.parseAsync([...argv])
  } catch (error) {
    process.exitCode = exitOf(error)
    if (error instanceof Failure) details = error.details
  }
  const exit = Number(process.exitCode ?? EXIT.ok)
  const format = exit === EXIT.ok ? null : formatIn(argv)
  if (format !== null) await printErrors(exit, format, details)
}

/** Returns the machine-readable format that the arguments select, or null. They may be invalid otherwise. */
function formatIn(argv: readonly string[]): Format | null {
  const end = argv.indexOf('--')
  const words = end === -1 ? argv : argv.slice(0, end)
  for (const [i, word] of words.entries()) {
    const [, attached] = /^(?:--output=|-o=?)(\w+)$/.exec(word) ?? []
    const value = attached ?? (word === '-o' || word === '--output' ? words[i + 1] : undefined)
    if (value === 'json' || value === 'yaml' || value === 'jsonl') return value
  }
  return null
}

function exitOf(error: unknown): ExitCode {
  // Commander has already printed the error. Help and version throw an error with exit code 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  if (error instanceof Failure) {
    complain(error.message)
    return error.exit
  }
  const systemError = systemErrorText(error)
  if (systemError !== null) {
    complain(systemError)
    return EXIT.failed
  }
  complain(`unexpected error in gw: ${error instanceof Error ? error.stack : String(error)}`)
  return EXIT.failed
}
