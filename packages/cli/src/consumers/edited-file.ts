import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { type FileRights, writePrivateFile } from '@sluice/core'
import { ConsumerTable, readConsumerEntry } from '@sluice/policies'
import { EXIT, Failure } from '../output/failure.js'

/** A key of a consumer in the file. */
export interface KeyRecord {
  readonly id: string
  readonly sha256: string
  readonly expires?: string
}

/** A consumer in the file. Other members are kept unchanged. */
export interface ConsumerRecord {
  readonly id: string
  readonly name?: string
  readonly groups?: readonly string[]
  readonly roles?: readonly string[]
  readonly scopes?: readonly string[]
  readonly metadata?: Readonly<Record<string, string>>
  readonly keys?: readonly KeyRecord[]
  readonly password?: string
}

/** Reads the consumers in a file. @throws Failure if it does not exist, or a gateway would reject it */
export function readConsumers(file: string): readonly ConsumerRecord[] {
  if (!existsSync(file))
    throw new Failure(`${file} does not exist; create it with gw consumer add, or choose another one with -f`)
  return consumersOf(file)
}

function consumersOf(file: string): readonly ConsumerRecord[] {
  const lines = textOf(file)
    .split('\n')
    .filter((line) => line !== '')
  checkLines(file, lines)
  return lines.map((line) => JSON.parse(line) as ConsumerRecord)
}

/**
 * Returns the consumer with an id, which is compared in Unicode normalization form NFC.
 * @throws Failure if there is none
 */
export function consumerIn(file: string, consumers: readonly ConsumerRecord[], id: string): ConsumerRecord {
  const found = consumers.find((consumer) => consumer.id === id.normalize('NFC'))
  if (found === undefined && consumers.length === 0) readConsumers(file)
  if (found === undefined)
    throw new Failure(`${file} has no consumer '${id}'; list them with gw consumer list`)
  return found
}

/**
 * Changes a consumers file atomically and under a lock. A new file is readable only by its owner; an existing
 * one keeps its owner, so that the gateway can read it.
 * @throws Failure if another process is changing it, or a gateway would reject the result
 */
export function changeConsumers(
  file: string,
  change: (consumers: readonly ConsumerRecord[]) => readonly ConsumerRecord[],
): void {
  const target = targetOf(file)
  const lock = `${target}.lock`
  takeLock(lock)
  try {
    const lines = change(consumersOf(target)).map((consumer) => JSON.stringify(consumer))
    checkLines(file, lines)
    write(target, lines.map((line) => `${line}\n`).join(''))
  } finally {
    rmSync(lock, { force: true })
  }
}

/**
 * Writes the file with its previous owner and mode. If the gateway could not read it, it would continue to
 * accept revoked keys.
 */
function write(file: string, text: string): void {
  try {
    writePrivateFile(file, text, rightsOf(file))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const remedy = code === 'EPERM' ? '; it belongs to another user: run gw as that user' : ''
    throw new Failure(`${file} cannot be written (${code})${remedy}`)
  }
}

/** Returns the owner and mode of a file, or null if it does not exist. */
function rightsOf(file: string): FileRights | null {
  const stats = statSync(file, { throwIfNoEntry: false })
  return stats === undefined ? null : { uid: stats.uid, gid: stats.gid, mode: stats.mode & 0o777 }
}

function checkLines(file: string, lines: readonly string[]): void {
  const table = new ConsumerTable()
  lines.forEach((line, i) => {
    try {
      table.add(readConsumerEntry(Buffer.from(line)))
    } catch (error) {
      throw new Failure(`${file}: line ${i + 1}: ${(error as Error).message}`, EXIT.invalid)
    }
  })
}

/** Resolves links, so that a link is not replaced with a file. */
function targetOf(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return file
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw new Failure(`${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

function takeLock(lock: string): void {
  try {
    const descriptor = openSync(lock, 'wx', 0o600)
    writeSync(descriptor, String(process.pid))
    closeSync(descriptor)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST') throw new Failure(`${lock} cannot be created (${code})`)
    throw new Failure(`another gw is changing the file; if none is running, remove the stale lock ${lock}`)
  }
}
