import { chmodSync, chownSync, readdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

/**
 * User ID for the server, because Elasticsearch refuses to run as root. It needs no account and is outside
 * the range of Debian's system users.
 */
const SERVER_UID = 19_200
const MAY_ENTER = 0o001

/** Returns true if the server must run as a user other than that of this process. */
export function isOtherUser(): boolean {
  return process.getuid?.() === 0
}

/** Returns the command prefix of the server. The server ends with this process in any case. */
export function serverCommand(): string[] {
  const user = [`--reuid=${SERVER_UID}`, `--regid=${SERVER_UID}`, '--clear-groups']
  return ['setpriv', ...(isOtherUser() ? user : []), '--no-new-privs', '--pdeathsig', 'TERM', '--']
}

/** Changes the owner of a directory and its content to the server's user. */
export function giveToServer(folder: string): void {
  if (!isOtherUser()) return
  chownSync(folder, SERVER_UID, SERVER_UID)
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) giveToServer(path)
    else chownSync(path, SERVER_UID, SERVER_UID)
  }
}

/**
 * Allows other users to traverse the temporary directories above `dir`.
 * @throws Error if the path contains an inaccessible directory that is not temporary.
 */
export function allowTraversal(dir: string): void {
  if (!isOtherUser()) return
  for (let folder = resolve(dir); folder !== dirname(folder); folder = dirname(folder)) {
    const { mode } = statSync(folder)
    if ((mode & MAY_ENTER) !== 0) continue
    if (!folder.startsWith(`${tmpdir()}/`))
      throw new Error(`${folder} is closed to the user of Elasticsearch; move ${dir}`)
    chmodSync(folder, (mode & 0o7777) | MAY_ENTER)
  }
}
