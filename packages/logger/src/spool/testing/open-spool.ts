import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import type { Takeover } from '@sluice/core'
import { type Instant, steadyMs } from '../../lib/steady-clock.js'
import type { LogChange } from '../../queue/messages.js'
import { lockPath } from '../lock.js'
import { ownerName } from '../owner-name.js'
import { Spool, type SpoolOptions } from '../spool.js'

interface OpenSpool {
  readonly spool: Spool
  readonly ledger: Ledger
  readonly options: SpoolOptions
}

/** Record counts of a spool, kept like the owner of its thread does. */
class Ledger {
  readonly account = { received: 0, indexed: 0, dead: 0, dropped: 0, onDisk: 0, inMemory: 0 }
  readonly reasons: string[] = []
  readonly problems: string[] = []
  readonly takeovers: Takeover[] = []

  readonly report = (change: LogChange): void => {
    const { taken = 0, adopted = 0, indexed = 0, dead = 0, dropped = 0, onDisk = 0, inMemory = 0 } = change
    const takenOver = (change.takeovers ?? []).reduce((sum, { records }) => sum + records, 0)
    assert.equal(taken + adopted, indexed + dead + dropped + onDisk + inMemory, JSON.stringify(change))
    this.account.received += taken + adopted + takenOver
    this.account.indexed += indexed
    this.account.dead += dead
    this.account.dropped += dropped
    this.account.onDisk += onDisk + takenOver
    this.account.inMemory += inMemory
    this.takeovers.push(...(change.takeovers ?? []))
    if (change.reason) this.reasons.push(change.reason)
    if (change.problem) this.problems.push(change.problem)
  }
}

/** Opens a spool with its own counts. */
export function openSpool(root: string, changes: Partial<SpoolOptions> = {}): OpenSpool {
  const ledger = new Ledger()
  const options: SpoolOptions = {
    ...{ root, owner: ownerName(1), encoded: () => ledger.account.received, isDirectoryMade: false },
    ...{ maxBytes: 64 * 1024 ** 2, minFreeBytes: 0, whenFull: 'drop-oldest' as const },
    sealAfterMs: 1000,
    shareBytes: changes.maxBytes ?? 64 * 1024 ** 2,
    ...changes,
  }
  return { spool: new Spool(options, ledger.report), ledger, options }
}

function linesOf(count: number, text = 'x'.repeat(100)): Buffer {
  return Buffer.from(Array.from({ length: count }, (_, i) => `{"n":${i},"t":"${text}"}\n`).join(''))
}

/** Appends a batch with this number of records. */
export function put(spool: Spool, records: number): void {
  spool.append(linesOf(records), records)
}

/** A process ID that is never in use. */
export const GONE = 2 ** 22 + 1

/** Changes the content of an owner's lock. */
export function relock(root: string, owner: string, changes: object): void {
  const path = lockPath(root, owner)
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...changes }))
}

/** Makes an owner look as if its process had ended. */
export function kill(root: string, owner: string): void {
  relock(root, owner, { pid: GONE })
}

/** Returns the current time on both clocks. */
export function now(): Instant {
  return { wallMs: Date.now(), mono: steadyMs() }
}
