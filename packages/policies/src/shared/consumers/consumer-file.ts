import { constants, type Stats } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CompileEnv } from '@sluice/core'
import { readConsumerEntry } from './consumer-entry.js'
import { ConsumerTable } from './consumer-table.js'

/** Largest file, in bytes. */
const MAX_BYTES = 128 * 1024 * 1024
/** Lines read in one go before the event loop gets a turn. */
const LINES_PER_SLICE = 200
const RENEW_MS = 1000
const NEWLINE = 10
const CHANGED = 'it changed while it was read'

/**
 * A file of consumers, a JSON object a line, that is held in memory and read again when it has changed. What was read
 * serves until all of the new one is read; while that cannot be read, it serves on.
 */
export class ConsumerFile {
  /** Another object when it was read again; null: it could not be read yet. */
  table: ConsumerTable | null = null
  /** What is wrong with the file; empty: nothing. */
  problem = ''
  readonly #file: string
  readonly #report: (problem: string) => void
  /** Of the file that was read last, also of one that could not be: it is not tried again before it has changed. */
  #version = ''
  #renewing: Promise<void> | null = null

  /** @param report gets what is wrong with the file, once for each way in which it is. */
  constructor(file: string, report: (problem: string) => void) {
    this.#file = file
    this.#report = report
  }

  /** Reads it if it has changed. */
  renew(): Promise<void> {
    this.#renewing ??= this.#readChanged().finally(() => {
      this.#renewing = null
    })
    return this.#renewing
  }

  async #readChanged(): Promise<void> {
    try {
      const version = versionOf(await stat(this.#file))
      if (version === this.#version) return
      this.#version = version
      const content = await wholeFile(this.#file)
      this.table = await readTable(content)
      this.problem = ''
    } catch (error) {
      const problem = reasonOf(error)
      if (problem !== this.problem) this.#report(problem)
      this.problem = problem
    }
  }
}

/**
 * The file of a policy's configuration, one for all its uses in a worker.
 * @throws Error for one that cannot be read.
 */
export async function openConsumerFile(file: string, env: CompileEnv): Promise<ConsumerFile> {
  const failures = env.counter('gw_consumers_file_failures_total', {})
  const report = (problem: string): void => {
    failures.value++
    env.report('consumers_file', { file, problem })
  }
  const consumers = env.shared(`consumers ${file}`, () => new ConsumerFile(file, report))
  await consumers.renew()
  if (consumers.table === null) throw new Error(`${file}: ${consumers.problem}`)
  env.schedule(RENEW_MS, () => consumers.renew())
  return consumers
}

/** One that is replaced or written while it is read is read again later: it is never taken in half. */
async function wholeFile(file: string): Promise<Buffer> {
  // A pipe would wait for somebody who writes.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const before = await handle.stat()
    checkKind(before)
    const content = await contentOf(handle, before.size)
    if (versionOf(await handle.stat()) !== versionOf(before)) throw new Error(CHANGED)
    return content
  } finally {
    await handle.close()
  }
}

function checkKind(stats: Stats): void {
  if (!stats.isFile()) throw new Error('it is not a regular file')
  if (stats.size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`)
  if ((stats.mode & 0o002) !== 0) throw new Error('everybody can write it; take that right away (chmod o-w)')
}

/** Never more than it had when it was looked at. */
async function contentOf(handle: FileHandle, size: number): Promise<Buffer> {
  const content = Buffer.alloc(size)
  let filled = 0
  while (filled < size) {
    const { bytesRead } = await handle.read(content, filled, size - filled, filled)
    if (bytesRead === 0) throw new Error(CHANGED)
    filled += bytesRead
  }
  return content
}

async function readTable(content: Buffer): Promise<ConsumerTable> {
  const table = new ConsumerTable()
  let line = 0
  for (let from = 0; from < content.length; line++) {
    const newline = content.indexOf(NEWLINE, from)
    const end = newline < 0 ? content.length : newline
    if (end > from) addLine(table, content.subarray(from, end), line + 1)
    from = end + 1
    if (line % LINES_PER_SLICE === LINES_PER_SLICE - 1) await nextTurn()
  }
  return table
}

function addLine(table: ConsumerTable, bytes: Uint8Array, line: number): void {
  try {
    table.add(readConsumerEntry(bytes))
  } catch (cause) {
    throw new Error(`line ${line}: ${(cause as Error).message}`, { cause })
  }
}

/** Another text for another file. */
function versionOf({ ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${ino} ${size} ${mtimeMs} ${ctimeMs}`
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return 'it does not exist; gw consumer add makes it'
  return code === undefined ? message : `it cannot be read (${code})`
}
