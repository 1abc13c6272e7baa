import { constants, type Stats } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type CompileEnv, reasonOf } from '@sluice/core'
import { readConsumerEntry } from './consumer-entry.js'
import { ConsumerTable } from './consumer-table.js'

/** Maximum file size in bytes. */
const MAX_BYTES = 128 * 1024 * 1024
/** Number of lines that are parsed before the event loop gets a turn. */
const LINES_PER_SLICE = 200
const RENEW_MS = 1000
const NEWLINE = 10
const CHANGED = 'the file changed while it was read'

/**
 * A consumer file with one JSON object per line. It is held in memory and read again after changes. The old content
 * stays in use until the new one is read completely and without errors.
 */
export class ConsumerFile {
  /** Current content: a new object after each successful read, or null before the first one. */
  table: ConsumerTable | null = null
  /** Problem of the file, or empty. */
  problem = ''
  readonly #file: string
  readonly #report: (problem: string) => void
  /** Version of the file that was read last, even if it was invalid. It is read again only after a change. */
  #version = ''
  #renewing: Promise<void> | null = null

  /** Creates the file without reading it. @param report is called with each new problem. */
  constructor(file: string, report: (problem: string) => void) {
    this.#file = file
    this.#report = report
  }

  /** Reads the file if it has changed. */
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
      const problem = readingFault(error)
      if (problem !== this.problem) this.#report(problem)
      this.problem = problem
    }
  }
}

/**
 * Opens the consumer file of a policy. All its uses in a worker share one.
 * @throws Error if it cannot be read.
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

/**
 * Reads a whole file. A file that changes meanwhile is an error and is read again later, so that no partial content
 * is used.
 */
async function wholeFile(file: string): Promise<Buffer> {
  // Opening a pipe would otherwise block until there is a writer.
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
  if (!stats.isFile()) throw new Error('not a regular file')
  if (stats.size > MAX_BYTES) throw new Error(`the file is larger than ${MAX_BYTES} bytes`)
  if ((stats.mode & 0o002) !== 0) throw new Error('the file is world-writable; run chmod o-w')
}

/** Reads exactly as many bytes as the file had. */
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

/** Returns a text that differs between versions of a file. */
function versionOf({ ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${ino} ${size} ${mtimeMs} ${ctimeMs}`
}

function readingFault(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return "the file does not exist; create it with 'gw consumer add'"
  return code === undefined ? message : `the file cannot be read (${reasonOf(error)})`
}
