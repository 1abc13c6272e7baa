import { readFileSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { PlaceDatabase } from './place-database.js'

/** No database of places is larger. */
const MAX_BYTES = 1024 ** 3

/**
 * A database of places that is held in memory, and read again when its file has changed: its makers replace it every week.
 * While it cannot be read, what was read before serves on.
 */
export class PlaceFile {
  /** Another object when it was read again; null: it could not be read yet. */
  database: PlaceDatabase | null = null
  readonly #file: string
  readonly #report: (problem: string) => void
  /** Of the file that was read; empty: none was. */
  #version = ''
  /** What was reported last, which is not reported again before it is over. */
  #problem = ''
  #renewing: Promise<void> | null = null

  /** @param report gets what is wrong with the file, once. */
  constructor(file: string, report: (problem: string) => void) {
    this.#file = file
    this.#report = report
  }

  /** Reads it, and holds up everything until then. */
  readNow(): void {
    try {
      const version = versionOf(this.#file)
      this.#take(readFileSync(this.#file), version)
    } catch (error) {
      this.#complain(error)
    }
  }

  /** Reads it if it has changed, without holding up what comes meanwhile. */
  renew(): Promise<void> {
    this.#renewing ??= this.#readChanged().finally(() => {
      this.#renewing = null
    })
    return this.#renewing
  }

  /** What is wrong with the file; empty: nothing. */
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
    const problem = `the database of places cannot be read (${(error as Error).message})`
    if (problem !== this.#problem) this.#report(problem)
    this.#problem = problem
  }
}

/** Another text for another file. @throws Error where there is none that can be a database. */
function versionOf(file: string): string {
  const stats = statSync(file)
  if (!stats.isFile()) throw new Error('it is not a regular file')
  if (stats.size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`)
  return `${stats.ino} ${stats.size} ${stats.mtimeMs}`
}
