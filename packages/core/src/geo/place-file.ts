import { readFileSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { PlaceDatabase } from './place-database.js'

/** Maximum size of a database file. */
const MAX_BYTES = 1024 ** 3

/**
 * A location database held in memory and reloaded when its file changes; vendors publish weekly updates. If
 * reloading fails, the previous database stays in use.
 */
export class PlaceFile {
  /** The current database, replaced by a new object after each reload. Null if it has not been loaded yet. */
  database: PlaceDatabase | null = null
  readonly #file: string
  readonly #report: (problem: string) => void
  /** Version of the loaded file, or empty if none was loaded. */
  #version = ''
  /** Last reported problem. It is not reported again until it is resolved. */
  #problem = ''
  #renewing: Promise<void> | null = null

  /** @param report Called once for each new problem with the file. */
  constructor(file: string, report: (problem: string) => void) {
    this.#file = file
    this.#report = report
  }

  /** Loads the database synchronously. */
  readNow(): void {
    try {
      const version = versionOf(this.#file)
      this.#take(readFileSync(this.#file), version)
    } catch (error) {
      this.#complain(error)
    }
  }

  /** Reloads the database asynchronously if the file has changed. */
  renew(): Promise<void> {
    this.#renewing ??= this.#readChanged().finally(() => {
      this.#renewing = null
    })
    return this.#renewing
  }

  /** Current problem with the file, or empty if the file is usable. */
  get problem(): string {
    return this.#problem
  }

  async #readChanged(): Promise<void> {
    try {
      const version = versionOf(this.#file)
      if (version !== this.#version) this.#take(await readFile(this.#file), version)
    } catch (error) {
      this.#complain(error)
    }
  }

  #take(bytes: Buffer, version: string): void {
    this.database = new PlaceDatabase(bytes)
    this.#version = version
    this.#problem = ''
  }

  #complain(error: unknown): void {
    const problem = `the location database cannot be read (${(error as Error).message})`
    if (problem !== this.#problem) this.#report(problem)
    this.#problem = problem
  }
}

/**
 * Returns an identifier that changes whenever the file changes. @throws Error if the file is missing or not
 * usable.
 */
function versionOf(file: string): string {
  const stats = statSync(file)
  if (!stats.isFile()) throw new Error('it is not a regular file')
  if (stats.size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`)
  return `${stats.ino} ${stats.size} ${stats.mtimeMs}`
}
