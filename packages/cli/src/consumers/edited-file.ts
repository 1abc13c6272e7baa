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
import { type FileRights, writePrivateFile } from '@sluice/gateway'
import { ConsumerTable, readConsumerEntry } from '@sluice/policies'
import { EXIT, Failure } from '../failure.js'

/** A key of a consumer as the file has it. */
export interface KeyRecord {
  readonly id: string
  readonly sha256: string
  readonly expires?: string
}

/** A consumer as the file has it; members that are not named here stay as they are. */
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

/** The consumers of a file. @throws Failure for one that is not there, or that a gateway would refuse. */
export function readConsumers(file: string): readonly ConsumerRecord[] {
  if (!existsSync(file))
    throw new Failure(EXIT.failed, `${file} does not exist; gw consumer add makes it, -f names another`)
  return consumersOf(file)
}

function consumersOf(file: string): readonly ConsumerRecord[] {
  const lines = textOf(file)
    .split('\n')
    .filter((line) => line !== '')
  checkLines(file, lines)
  return lines.map((line) => JSON.parse(line) as ConsumerRecord)
}

/** The consumer with an id, however its letters are composed: the file has them in NFC. @throws Failure when there is none. */
export function consumerIn(file: string, consumers: readonly ConsumerRecord[], id: string): ConsumerRecord {
  const found = consumers.find((consumer) => consumer.id === id.normalize('NFC'))
  if (found === undefined && consumers.length === 0) readConsumers(file)
  if (found === undefined)
    throw new Failure(EXIT.failed, `${file} has no consumer '${id}'; gw consumer list shows all`)
  return found
}

/**
 * Changes a file of consumers: whoever reads it sees all of the old one or all of the new one, and nobody else changes it
 * meanwhile. A new one can only be read by its owner; another one stays whose it is, so that the gateway can read it.
 * @throws Failure when somebody else is changing it, or a gateway would refuse what comes of it.
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

/** A gateway that could not read the file any more would go on with the keys that it knows, also with revoked ones. */
function write(file: string, text: string): void {
  try {
    writePrivateFile(file, text, rightsOf(file))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const remedy = code === 'EPERM' ? '; it belongs to another user: run gw as that one' : ''
    throw new Failure(EXIT.failed, `${file} cannot be written (${code})${remedy}`)
  }
}

/** Null: it is not there yet. */
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
      throw new Failure(EXIT.invalid, `${file}: line ${i + 1}: ${(error as Error).message}`)
    }
  })
}

/** A link stays one. */
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
    throw new Failure(EXIT.failed, `${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

function takeLock(lock: string): void {
  try {
    const descriptor = openSync(lock, 'wx', 0o600)
    writeSync(descriptor, String(process.pid))
    closeSync(descriptor)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST') throw new Failure(EXIT.failed, `${lock} cannot be made (${code})`)
    throw new Failure(
      EXIT.failed,
      `another gw is changing the file; if none is running, one was killed: remove ${lock}`,
    )
  }
}
