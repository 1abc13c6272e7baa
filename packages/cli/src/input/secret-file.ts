import { readFileSync, statSync } from 'node:fs'
import { unreadable } from '../failure.js'
import { say } from '../output/output.js'

/** Permissions of the group and of everybody. */
const OTHERS = 0o077

/** The secret in a file, such as the `token file`, without the white space around it. @throws Failure. */
export function secretInFile(file: string, what: string): string {
  try {
    const { mode } = statSync(file)
    if ((mode & OTHERS) !== 0)
      say(`others may read or change ${file}; make it private with chmod 600 ${file}`)
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw unreadable(`the ${what}`, file, error)
  }
}
