import { readFileSync, statSync } from 'node:fs'
import { unreadable } from '../output/failure.js'
import { say } from '../output/output.js'

/** Permission bits of group and others. */
const OTHERS = 0o077

/**
 * Reads a secret from a file and trims whitespace. Warns if other users can access the file.
 * @param what for example `token file`
 * @throws Failure
 */
export function secretInFile(file: string, what: string): string {
  try {
    const { mode } = statSync(file)
    if ((mode & OTHERS) !== 0)
      say(`other users can read or change ${file}; make it private with chmod 600 ${file}`)
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw unreadable(`the ${what}`, file, error)
  }
}
