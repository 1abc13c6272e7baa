import { appendFileSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { TellChange } from '../spool/account.js'
import type { Refusal, Shipment } from '../target/target.js'

/** A file of dead letters grows to this size, and so much is kept of all of them; the oldest go first. */
const FILE_BYTES = 16 * 1024 ** 2
const TOTAL_BYTES = 256 * 1024 ** 2
const END = Buffer.from('}\n')

/**
 * Records that the target will never take, with its reason, one JSON object a line:
 * `{"@timestamp","id","status","type","reason","record"}`, in `<root>/dead/<owner>-<n>.ndjson`.
 */
export class DeadLetters {
  readonly #dir: string
  readonly #owner: string
  readonly #tell: TellChange
  #file = 0
  #fileBytes = 0

  /** @param tell hears of letters that had to go. */
  constructor(root: string, owner: string, tell: TellChange) {
    this.#dir = join(root, 'dead')
    this.#owner = owner
    this.#tell = tell
  }

  /** Where they are. */
  get dir(): string {
    return this.#dir
  }

  /** Keeps refused records of a shipment. @throws the file system's error. */
  keep(shipment: Shipment, refused: readonly Refusal[]): void {
    const letters = lettersOf(shipment, refused)
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 })
    // Also those of owners that have ended before their file was full.
    if (this.#fileBytes === 0) this.#removeOldest()
    const path = join(this.#dir, `${this.#owner}-${this.#file}.ndjson`)
    try {
      appendFileSync(path, letters, { mode: 0o600 })
    } catch (error) {
      // It may end in half a line, which would spoil the next letter.
      this.#nextFile()
      throw error
    }
    this.#fileBytes += letters.length
    if (this.#fileBytes >= FILE_BYTES) this.#nextFile()
  }

  #nextFile(): void {
    this.#file++
    this.#fileBytes = 0
  }

  #removeOldest(): void {
    const files = readdirSync(this.#dir).map((name) => {
      const path = join(this.#dir, name)
      const stat = statSync(path, { throwIfNoEntry: false })
      return { path, bytes: stat?.size ?? 0, modifiedMs: stat?.mtimeMs ?? 0 }
    })
    let total = files.reduce((sum, file) => sum + file.bytes, 0)
    for (const { path, bytes } of files.sort((a, b) => a.modifiedMs - b.modifiedMs)) {
      if (total <= TOTAL_BYTES) return
      rmSync(path, { force: true })
      total -= bytes
      this.#tell({
        problem: `dead letters have reached ${TOTAL_BYTES / 1024 ** 2} MB: the oldest file of them, ${path}, was removed`,
      })
    }
  }
}

/** The records are copied as they are: as text they would be written and read four times. */
function lettersOf(shipment: Shipment, refused: readonly Refusal[]): Buffer {
  const now = new Date().toISOString()
  const parts: Buffer[] = []
  for (const { index, status, type, reason } of refused) {
    const head = { '@timestamp': now, id: shipment.idOf(index), status, type, reason }
    parts.push(Buffer.from(`${JSON.stringify(head).slice(0, -1)},"record":`), shipment.jsonOf(index), END)
  }
  return Buffer.concat(parts)
}
