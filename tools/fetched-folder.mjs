import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cacheFolder } from './cache-folder.mjs'

const FETCH_MS = 600_000
const SHOWN_LINES = 20

/** A folder of the cache that a package manager fills. Another list of what to fetch makes another folder. */
export class FetchedFolder {
  #name
  #list
  #what
  #command
  #timeoutMs

  /**
   * @param name of the folder, before the digest of the list
   * @param list the file that names what is fetched, or several files that decide what is made of it
   * @param what is fetched, for the message
   * @param command answers with what fills a folder, program first
   * @param timeoutMs for it; default 10 minutes, 0: none, because compilers take as long as the machine is busy
   */
  constructor({ name, list, what, command, timeoutMs = FETCH_MS }) {
    this.#name = name
    this.#list = list
    this.#what = what
    this.#command = command
    this.#timeoutMs = timeoutMs
  }

  get path() {
    const hash = createHash('sha256')
    for (const file of [this.#list].flat()) hash.update(readFileSync(file))
    return join(cacheFolder(), `${this.#name}-${hash.digest('hex').slice(0, 12)}`)
  }

  /** Makes sure that it is there. Answers with what went wrong, or null. */
  install() {
    const { path } = this
    // The folder gets its name when it is complete.
    if (existsSync(path)) return null
    console.log(`fetching ${this.#what} into ${path}, once`)
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o755 })
      return this.#fetch(path)
    } catch (error) {
      return `${error.message}; name another folder in SLUICE_CACHE_DIR`
    }
  }

  #fetch(path) {
    const staging = mkdtempSync(`${path}.`)
    try {
      chmodSync(staging, 0o755)
      const [program, ...args] = this.#command(staging)
      const { status, stdout, stderr, error } = spawnSync(program, args, {
        cwd: staging,
        timeout: this.#timeoutMs,
        encoding: 'utf8',
      })
      if (error !== undefined) return error.message
      if (status !== 0) return (stdout + stderr).trim().split('\n').slice(-SHOWN_LINES).join('\n')
      renameSync(staging, path)
      return null
    } catch (error) {
      // Of two runs at once the second finds the folder of the first, which is as good.
      if (existsSync(path)) return null
      throw error
    } finally {
      rmSync(staging, { recursive: true, force: true })
    }
  }
}
