import { accessSync, constants, existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { EXIT, Failure } from '../failure.js'

/** Where runs go that have no folder of their own. */
export const RESULTS_DIR = 'results'
export const SUMMARY_FILE = 'summary.json'

/** Hours of measuring must not end with a folder that cannot be written. @throws Failure. */
export function checkResultsDir(dir: string): void {
  if (existsSync(join(dir, SUMMARY_FILE)))
    throw new Failure(EXIT.failed, `${dir} holds the results of another run; name another folder with --out`)
  const parent = nearestExisting(resolve(dir))
  try {
    accessSync(parent, constants.W_OK | constants.X_OK)
  } catch {
    throw new Failure(EXIT.failed, `${parent} cannot be written to; name another folder with --out`)
  }
}

function nearestExisting(dir: string): string {
  return existsSync(dir) || dirname(dir) === dir ? dir : nearestExisting(dirname(dir))
}
