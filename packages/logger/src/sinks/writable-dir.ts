import { accessSync, constants } from 'node:fs'
import { makeFolders } from '@sluice/core'

/**
 * Ensures that files can be created in a directory, creating it if necessary. @throws Error with the reason
 * and the remedy.
 */
export function makeWritable(dir: string, what: string, remedy: string): void {
  try {
    makeFolders(dir)
    accessSync(dir, constants.W_OK | constants.X_OK)
  } catch (error) {
    const reason = (error as Error).message
    throw new Error(`cannot write ${what} to ${dir}: ${reason}; ${remedy}`, { cause: error })
  }
}
