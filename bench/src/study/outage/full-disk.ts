import { type FileHandle, open, rm, statfs } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { runToSuccess } from '../../engine/program.js'
import { LOAD_CPU } from '../test-bed.js'
import type { Outage } from './outage.js'

/** As much as waits while a node gets warm; beyond, the disk is full before the outage. */
const DISK_BYTES = 512 * 1024 ** 2
const PIECE = Buffer.alloc(1024 ** 2)
/** The spool goes on while most of the disk is taken at once. */
const LEFT_BYTES = 8 * PIECE.length
const FALLOCATE = { cpu: LOAD_CPU, limitSeconds: 60 }
/** How soon what the spool frees is taken; more often, and the load beside it would feel that. */
const TAKE_MS = 200

/**
 * The spool's disk is full while the node takes records. It is a small one of the gateway alone, which is started in a
 * mount namespace of its own, and with which it ends.
 */
export function fullDisk(): Outage {
  let ballast: Ballast
  return {
    over: 'the disk had room again',
    gatewayBehind: (dir) => ['unshare', '-m', 'sh', '-c', MOUNT, dir],
    begin: async ({ bed, gateway }) => {
      ballast = await Ballast.in(bed.spoolOf(gateway))
    },
    end: async ({ node }) => {
      await ballast.remove()
      return node
    },
  }
}

/** The shell's name is the folder, all else the command. */
const MOUNT = `mount -t tmpfs -o size=${DISK_BYTES} none "$0" && exec "$@"`

/** A file that takes what room there is, and what becomes free as well, as others on a full disk would. */
class Ballast {
  readonly #path: string
  readonly #file: FileHandle
  #isWanted = true
  #taking: Promise<void> = Promise.resolve()

  private constructor(path: string, file: FileHandle) {
    this.#path = path
    this.#file = file
  }

  /** Resolves when the disk of a folder is full. */
  static async in(dir: string): Promise<Ballast> {
    const path = `${dir}/ballast`
    // Half a gigabyte written by the process of the load would stop it for a second.
    const { bavail, bsize } = await statfs(dir)
    const bytes = bavail * bsize - LEFT_BYTES
    if (bytes > 0) await runToSuccess(['fallocate', '-l', String(bytes), path], FALLOCATE)
    const ballast = new Ballast(path, await open(path, 'a'))
    await ballast.#fill()
    ballast.#taking = ballast.#take()
    // Heard of by whoever removes it.
    ballast.#taking.catch(() => {})
    return ballast
  }

  async remove(): Promise<void> {
    this.#isWanted = false
    await this.#taking
    await this.#file.close()
    await rm(this.#path)
  }

  async #take(): Promise<void> {
    while (this.#isWanted) {
      await sleep(TAKE_MS)
      await this.#fill()
    }
  }

  async #fill(): Promise<void> {
    try {
      for (;;) await this.#file.write(PIECE)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }
}
