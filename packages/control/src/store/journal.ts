import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncDirectory } from '@sluice/core'
import type { LogEntry, NumberedEntry } from './log-entry.js'

const SUM_CHARS = 16
const HEAD = '{"sum":"'
const MIDDLE = '","entry":'
const BODY_AT = HEAD.length + SUM_CHARS + MIDDLE.length

/**
 * The log in a file with one JSON object per line. The checksum of a line covers the checksum of the line before,
 * so deleted and edited lines are detected.
 * ```
 * {"sum":"5f1c…","entry":{"seq":1,…}}
 * {"sum":"90ab…","entry":{"seq":2,…}}
 * {"sum":"77             an append that a crash interrupted; cut off at the next start
 * ```
 */
export class Journal {
  readonly #file: FileHandle
  readonly #entries: NumberedEntry[]
  #bytes: number
  #sum: string
  /** Error after which the contents of the file are unknown. Only a restart helps. */
  #broken: Error | null = null

  private constructor(file: FileHandle, { entries, bytes, sum }: Contents) {
    this.#file = file
    this.#entries = entries
    this.#bytes = bytes
    this.#sum = sum
  }

  /** Opens or creates a journal. @throws Error if a line other than the last one is damaged */
  static async open(path: string): Promise<Journal> {
    const file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600)
    try {
      // Otherwise a power failure could remove the new file with its entries.
      syncDirectory(dirname(path))
      const content = await file.readFile()
      const contents = readLines(content, path)
      if (contents.bytes < content.length) {
        await file.truncate(contents.bytes)
        await file.datasync()
      }
      return new Journal(file, contents)
    } catch (error) {
      await file.close()
      throw error
    }
  }

  /** All entries. */
  get entries(): readonly NumberedEntry[] {
    return this.#entries
  }

  /**
   * Writes an entry to the disk. Calls must not overlap.
   * @throws Error of the file system, after which the journal is unchanged
   */
  async append(entry: LogEntry): Promise<number> {
    if (this.#broken !== null) throw this.#broken
    const seq = this.#entries.length + 1
    const numbered = { seq, ...entry }
    const body = JSON.stringify(numbered)
    const sum = sumOf(this.#sum, body)
    const line = Buffer.from(`${HEAD}${sum}${MIDDLE}${body}}\n`)
    try {
      for (let at = 0; at < line.length; )
        at += (await this.#file.write(line, at, line.length - at, this.#bytes + at)).bytesWritten
      await this.#file.datasync()
    } catch (error) {
      await this.#restore(error)
      throw error
    }
    this.#bytes += line.length
    this.#sum = sum
    this.#entries.push(numbered)
    return seq
  }

  async close(): Promise<void> {
    await this.#file.close()
  }

  /** Removes what a failed append has written. */
  async #restore(cause: unknown): Promise<void> {
    try {
      await this.#file.truncate(this.#bytes)
      await this.#file.datasync()
    } catch {
      this.#broken = new Error(
        'the journal could not be restored after a failed write; restart the controller',
        {
          cause,
        },
      )
    }
  }
}

interface Contents {
  readonly entries: NumberedEntry[]
  /** Length of the valid lines. */
  readonly bytes: number
  readonly sum: string
}

function readLines(content: Buffer, path: string): Contents {
  const entries: NumberedEntry[] = []
  let bytes = 0
  let sum = ''
  for (;;) {
    const end = content.indexOf(10, bytes)
    if (end === -1) return { entries, bytes, sum }
    const line = content.toString('utf8', bytes, end)
    const body = line.slice(BODY_AT, -1)
    const written = line.slice(HEAD.length, HEAD.length + SUM_CHARS)
    if (written !== sumOf(sum, body)) {
      if (end + 1 === content.length) return { entries, bytes, sum }
      throw new Error(`line ${entries.length + 1} of ${path} is damaged; restore the file from a backup`)
    }
    entries.push(JSON.parse(body) as NumberedEntry)
    sum = written
    bytes = end + 1
  }
}

function sumOf(previous: string, body: string): string {
  return createHash('sha256').update(previous).update(body).digest('hex').slice(0, SUM_CHARS)
}
