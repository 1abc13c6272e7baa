import { accessSync, constants } from 'node:fs'
import { makeFolders } from '@sluice/core'

/** Makes sure that files can be created in a directory. @throws Error that says what cannot be written and what to do. */
export function makeWritable(dir: string, what: string, remedy: string): void {
  try {
    makeFolders(dir)
    accessSync(dir, constants.W_OK | constants.X_OK)
  } catch (error) {
    const reason = (error as Error).message
    throw new Error(`cannot write ${what} to ${dir}: ${reason}; ${remedy}`, { cause: error })
  }
}
