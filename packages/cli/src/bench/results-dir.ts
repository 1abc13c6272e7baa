import { accessSync, constants, existsSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolders } from '@sluice/core'
import { EXIT, Failure } from '../failure.js'

/** Where runs go that have no folder of their own. */
export const RESULTS_DIR = 'results'
/** Of folders that are nobody's secret. */
const SHARED = 0o777
export const SUMMARY_FILE = 'summary.json'

/** Hours of measuring must not end with a folder that cannot be written: it is made now. @throws Failure. */
export function checkResultsDir(dir: string): void {
  if (existsSync(join(dir, SUMMARY_FILE)))
    throw new Failure(EXIT.failed, `${dir} holds the results of another run; name another folder with --out`)
  try {
    makeFolders(dir, SHARED)
    accessSync(dir, constants.W_OK | constants.X_OK)
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? String(error)
    throw new Failure(EXIT.failed, `${dir} cannot be written to (${reason}); name another folder with --out`)
  }
}
