import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cacheFolder } from './cache-folder.mjs'

const FETCH_MS = 600_000
const SHOWN_LINES = 20

/** A cache folder that a package manager fills. A changed list of packages gives another folder. */
export class FetchedFolder {
  #name
  #list
  #what
  #command
  #timeoutMs

  /**
   * @param name name of the folder, before the digest of the list
   * @param list file with the packages to fetch, or several files that determine the content
   * @param what description of the content, for messages
   * @param command returns the command that fills a folder
   * @param timeoutMs time limit; default 10 minutes. 0 means none, for compilers on busy machines
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

  /** Creates the folder if it does not exist. Returns an error message, or null. */
  install() {
    const { path } = this
    // The folder gets its final name when it is complete.
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
      // A concurrent run may have created the same folder.
      if (existsSync(path)) return null
      throw error
    } finally {
      rmSync(staging, { recursive: true, force: true })
    }
  }
}
