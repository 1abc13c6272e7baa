import { EXIT, Failure } from '../failure.js'
import { secretInFile } from '../input/secret-file.js'

/** The token for the admin API: that of the file, else that of GW_TOKEN, else null. @throws Failure. */
export function tokenOf(file: string | undefined): string | null {
  if (file !== undefined) return checked(secretInFile(file, 'token file'), `the file ${file}`)
  const token = process.env['GW_TOKEN'] ?? ''
  return token === '' ? null : checked(token, 'GW_TOKEN')
}

/** The token itself is never repeated. */
function checked(token: string, where: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new Failure(EXIT.usage, `${where} holds no token; it must be one line of visible ASCII characters`)
}
