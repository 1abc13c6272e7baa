import { readFileSync, statSync } from 'node:fs'
import { EXIT, Failure, messageOf } from '../failure.js'
import { say } from '../output/output.js'

/** Permissions of the group and of everybody. */
const OTHERS = 0o077

/** The token for the admin API: that of the file, else that of GW_TOKEN, else null. @throws Failure. */
export function tokenOf(file: string | undefined): string | null {
  if (file !== undefined) return checked(tokenIn(file), `the file ${file}`)
  const token = process.env['GW_TOKEN'] ?? ''
  return token === '' ? null : checked(token, 'GW_TOKEN')
}

function tokenIn(file: string): string {
  try {
    const { mode } = statSync(file)
    if ((mode & OTHERS) !== 0)
      say(`others may read or change ${file}; make it private with chmod 600 ${file}`)
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new Failure(EXIT.failed, `cannot read the token file: ${messageOf(error)}`)
  }
}

/** The token itself is never repeated. */
function checked(token: string, where: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new Failure(EXIT.usage, `${where} holds no token; it must be one line of visible ASCII characters`)
}
