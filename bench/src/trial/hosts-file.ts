import { spawnSync } from 'node:child_process'
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** Host name of the upstream, in a reserved domain (RFC 6761). */
export const UPSTREAM_NAME = 'upstream.test'
const LOCAL = '127.0.0.1 localhost\n'
/** A user namespace makes root unnecessary. */
const NAMESPACES = [
  ['unshare', '--mount'],
  ['unshare', '--map-root-user', '--mount'],
] as const
/** Shell command. Its `$0` is the file, followed by the command. */
const MOUNT = 'mount --bind "$0" /etc/hosts'

/** An operation that this system does not allow. The trial is skipped. */
export class NotAllowed extends Error {}

/**
 * A hosts file that only one process and its children see. It is mounted over /etc/hosts in their namespace, so name
 * resolution works as usual.
 */
export class HostsFile {
  /** Prefix for commands that use this hosts file. */
  readonly prefix: readonly string[]
  readonly #file: string

  private constructor(namespace: readonly string[], file: string) {
    this.prefix = [...namespace, 'sh', '-c', `${MOUNT} && exec "$@"`, file]
    this.#file = file
  }

  /** Creates the file. @throws NotAllowed if this system does not allow the mount */
  static in(dir: string, address: string): HostsFile {
    const file = join(dir, 'hosts')
    writeFileSync(file, `${LOCAL}${address} ${UPSTREAM_NAME}\n`)
    const isAllowed = ([program, ...options]: readonly string[]): boolean =>
      spawnSync(program!, [...options, 'sh', '-c', MOUNT, file], { timeout: 10_000 }).status === 0
    const namespace = NAMESPACES.find(isAllowed)
    if (namespace === undefined)
      throw new NotAllowed('host names cannot be changed for one process here: install unshare and mount')
    return new HostsFile(namespace, file)
  }

  /**
   * Changes the address in one write to the same file, so that no lookup fails. The new address must have the same
   * length.
   */
  rename(address: string): void {
    const file = openSync(this.#file, 'r+')
    writeSync(file, address, LOCAL.length)
    closeSync(file)
  }
}
