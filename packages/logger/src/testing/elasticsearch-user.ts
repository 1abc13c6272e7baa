import { chmodSync, chownSync, readdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

/** Elasticsearch refuses to run as root. A number needs no account; this one is not Debian's to give. */
const SERVER_UID = 19_200
const MAY_ENTER = 0o001

/** Whether the server has to run as another user than this process. */
export function isOtherUser(): boolean {
  return process.getuid?.() === 0
}

/** What stands before the command of the server; it ends with this process, however that ends. */
export function serverCommand(): string[] {
  const user = [`--reuid=${SERVER_UID}`, `--regid=${SERVER_UID}`, '--clear-groups']
  return ['setpriv', ...(isOtherUser() ? user : []), '--no-new-privs', '--pdeathsig', 'TERM', '--']
}

/** Gives a folder and what is in it to the user of the server. */
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
 * Temporary folders are closed to other users, so those above the node's own are opened for passing through.
 *
 * @throws Error when the way leads through a folder that is not a temporary one
 */
export function openTheWay(dir: string): void {
  if (!isOtherUser()) return
  for (let folder = resolve(dir); folder !== dirname(folder); folder = dirname(folder)) {
    const { mode } = statSync(folder)
    if ((mode & MAY_ENTER) !== 0) continue
    if (!folder.startsWith(`${tmpdir()}/`))
      throw new Error(`${folder} is closed to the user of Elasticsearch; move ${dir}`)
    chmodSync(folder, (mode & 0o7777) | MAY_ENTER)
  }
}
