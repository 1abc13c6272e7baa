import { spawnSync } from 'node:child_process'
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** What the upstream is called; nobody else has a name of this kind (RFC 6761). */
export const UPSTREAM_NAME = 'upstream.test'
const LOCAL = '127.0.0.1 localhost\n'
/** With a namespace of users as well, nobody needs to be root. */
const NAMESPACES = [
  ['unshare', '--mount'],
  ['unshare', '--map-root-user', '--mount'],
] as const
/** The shell's name is the file, all else the command. */
const MOUNT = 'mount --bind "$0" /etc/hosts'

/** What this system does not let us do; a trial that needs it is left out. */
export class NotAllowed extends Error {}

/**
 * A file of names that only one process and those below it see, in the place of the system's: it is mounted over it in
 * a namespace of theirs, and they look names up as they always do.
 */
export class HostsFile {
  /** A command that is added to it sees the names. */
  readonly prefix: readonly string[]
  readonly #file: string

  private constructor(namespace: readonly string[], file: string) {
    this.prefix = [...namespace, 'sh', '-c', `${MOUNT} && exec "$@"`, file]
    this.#file = file
  }

  /** @throws NotAllowed where this system does not let us */
  static in(dir: string, address: string): HostsFile {
    const file = join(dir, 'hosts')
    writeFileSync(file, `${LOCAL}${address} ${UPSTREAM_NAME}\n`)
    const isAllowed = ([program, ...options]: readonly string[]): boolean =>
      spawnSync(program!, [...options, 'sh', '-c', MOUNT, file], { timeout: 10_000 }).status === 0
    const namespace = NAMESPACES.find(isAllowed)
    if (namespace === undefined)
      throw new NotAllowed('names cannot be changed for one process here; it takes unshare and mount')
    return new HostsFile(namespace, file)
  }

  /** In one write and on the same file, so that no look finds the name missing; the address has to be as long as before. */
  rename(address: string): void {
    const file = openSync(this.#file, 'r+')
    writeSync(file, address, LOCAL.length)
    closeSync(file)
  }
}
