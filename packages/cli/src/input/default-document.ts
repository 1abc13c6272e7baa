import { existsSync } from 'node:fs'
import { usageError } from '../output/failure.js'

/** Document that commands use if none is named and the working directory has it. */
const DEFAULT_DOCUMENT = 'gateway.yaml'

/**
 * Returns the default document.
 * @param command words of the command for the message, such as `gw validate`
 * @throws Failure if the working directory has none
 */
export function defaultDocument(command: string): string {
  if (existsSync(DEFAULT_DOCUMENT)) return DEFAULT_DOCUMENT
  throw usageError(
    `no document given, and this folder has no ${DEFAULT_DOCUMENT}; name one, for example ${command} my.yaml`,
  )
}
