import { spawnSync } from 'node:child_process'
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** What the upstream is called; nobody else has a name of this kind (RFC 6761). */
export const UPSTREAM_NAME = 'upstream.test'
/** What is the matter where names cannot be steered. */
export const NO_NAMES =
  'names cannot be changed for one process on this system; unshare and mount have to be allowed'
const LOCAL = '127.0.0.1 localhost\n'
/** With a namespace of users as well, nobody needs to be root. */
const NAMESPACES = [
  ['unshare', '--mount'],
  ['unshare', '--map-root-user', '--mount'],
] as const
/** The shell's name is the file, all else the command. */
const MOUNT = 'mount --bind "$0" /etc/hosts'
const LIMIT_MS = 10_000

/**
 * A file of names that only one process and those below it see, in the place of the system's: it is mounted over it in
 * a namespace of theirs, and they look names up as they always do.
 */
export class OwnNames {
  /** Behind it a command sees the names. */
  readonly behind: readonly string[]
  readonly #file: string

  private constructor(namespace: readonly string[], file: string) {
    this.behind = [...namespace, 'sh', '-c', `${MOUNT} && exec "$@"`, file]
    this.#file = file
  }

  /** Null where this system does not let us. */
  static in(dir: string, address: string): OwnNames | null {
    const file = join(dir, 'hosts')
    writeFileSync(file, `${LOCAL}${address} ${UPSTREAM_NAME}\n`)
    const isAllowed = ([program, ...options]: readonly string[]): boolean =>
      spawnSync(program!, [...options, 'sh', '-c', MOUNT, file], { timeout: LIMIT_MS }).status === 0
    const namespace = NAMESPACES.find(isAllowed)
    return namespace === undefined ? null : new OwnNames(namespace, file)
  }

  /** In one write and on the same file, so that no look finds the name missing; the address has to be as long as before. */
  rename(address: string): void {
    const file = openSync(this.#file, 'r+')
    writeSync(file, address, LOCAL.length)
    closeSync(file)
  }
}
