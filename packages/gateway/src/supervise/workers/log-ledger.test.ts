import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_LOG, type LogIdentity, type Takeover } from '@sluice/core'
import { LogLedger } from './log-ledger.js'

function isWhole(log: LogIdentity): boolean {
  return log.received === log.indexed + log.dead + log.dropped + log.onDisk + log.inMemory
}

test('the counts add up over living and exited workers, with records held by an exited one counted as dropped', () => {
  const ledger = new LogLedger()
  ledger.retire({ ...EMPTY_LOG, received: 10, indexed: 6, dropped: 1, droppedBy: { full: 1 }, inMemory: 3 })
  const total = ledger.total([{ ...EMPTY_LOG, received: 5, indexed: 4, inMemory: 1 }])
  assert.equal(isWhole(total), true)
  assert.deepEqual(total, {
    ...EMPTY_LOG,
    received: 15,
    indexed: 10,
    dropped: 4,
    droppedBy: { full: 1, worker: 3 },
    inMemory: 1,
  })
})

test('a worker without records adds no drop reason', () => {
  const ledger = new LogLedger()
  ledger.retire({ ...EMPTY_LOG, received: 2, indexed: 2 })
  assert.deepEqual(ledger.total([]).droppedBy, {})
})

/** A worker that owns a part of a spool. */
function worker(
  owner: string,
  counts: Partial<LogIdentity>,
  takeovers: readonly Takeover[] = [],
): LogIdentity {
  const log = { ...EMPTY_LOG, ...counts }
  const had = log.onDisk + log.inMemory
  return { ...log, spools: { left: had === 0 ? {} : { [owner]: had }, takeovers } }
}

test('records left in a spool count as on disk until another worker takes them over', () => {
  const ledger = new LogLedger()
  ledger.retire(worker('a', { received: 10, indexed: 4, onDisk: 5, inMemory: 1 }))
  const between = ledger.total([worker('b', { received: 3, indexed: 3 })])
  assert.equal(isWhole(between), true)
  assert.deepEqual([between.received, between.indexed, between.onDisk, between.dropped], [13, 7, 6, 0])
  const adopter = worker(
    'b',
    { received: 3 + 6, indexed: 3, onDisk: 5, dropped: 1, droppedBy: { process_lost: 1 } },
    [{ from: ['a'], records: 6 }],
  )
  const total = ledger.total([adopter])
  assert.equal(isWhole(total), true)
  assert.deepEqual([total.received, total.indexed, total.onDisk, total.dropped], [13, 7, 5, 1])
  assert.equal(total.spools, undefined)
})

test('records after the last heartbeat of an exited worker are counted when its spool is taken over', () => {
  const ledger = new LogLedger()
  ledger.retire(worker('a', { received: 10, indexed: 4, onDisk: 6 }))
  ledger.retire(worker('b', { received: 2, indexed: 1, onDisk: 1 }))
  const adopter = worker('c', { received: 1 + 4, onDisk: 5 }, [
    { from: ['a'], records: 1 },
    { from: ['b'], records: 4 },
  ])
  const total = ledger.total([adopter])
  assert.equal(isWhole(total), true)
  assert.deepEqual([total.received, total.indexed, total.onDisk], [15, 10, 5])
})

/** Reports of living workers and the names of those that exit afterwards, one step after another. */
interface Step {
  readonly live: Readonly<Record<string, LogIdentity>>
  readonly exits?: readonly string[]
  /** Total of received, indexed and spooled records. */
  readonly total: readonly [received: number, indexed: number, onDisk: number]
}

const A = worker('a', { received: 20, onDisk: 20 })
const B = worker('b', { received: 5, onDisk: 5 })
const TAKE_A = { from: ['a'], records: 20 }
const TAKE_B = { from: ['b'], records: 5 }

const SEQUENCES: Readonly<Record<string, readonly Step[]>> = {
  'one heir takes over two workers': [
    { live: { A, B }, exits: ['A', 'B'], total: [25, 0, 25] },
    { live: { C: worker('c', { received: 25, onDisk: 25 }, [TAKE_A, TAKE_B]) }, total: [25, 0, 25] },
    { live: { C: worker('c', { received: 25, indexed: 25 }, [TAKE_A, TAKE_B]) }, total: [25, 25, 0] },
  ],
  'an heir is killed before it could report': [
    { live: { A, B }, exits: ['A', 'B'], total: [25, 0, 25] },
    { live: { C: worker('c', { received: 1, onDisk: 1 }) }, exits: ['C'], total: [26, 0, 26] },
    {
      live: { D: worker('d', { received: 26, onDisk: 26 }, [{ from: ['c', 'a', 'b'], records: 26 }]) },
      total: [26, 0, 26],
    },
  ],
  'two heirs in a row are killed before they could report, the second after it delivered records': [
    { live: { A, B }, exits: ['A', 'B'], total: [25, 0, 25] },
    { live: { C: worker('c', {}), D: worker('d', {}) }, exits: ['C', 'D'], total: [25, 0, 25] },
    {
      live: { E: worker('e', { received: 7, onDisk: 7 }, [{ from: ['d', 'c', 'a', 'b'], records: 7 }]) },
      total: [25, 18, 7],
    },
  ],
  'an heir is killed after it has reported, and its heir, too': [
    { live: { A, B }, exits: ['A'], total: [25, 0, 25] },
    {
      live: { B: worker('b', { received: 25, indexed: 2, onDisk: 23 }, [TAKE_A]) },
      exits: ['B'],
      total: [25, 2, 23],
    },
    {
      live: { C: worker('c', { received: 23, onDisk: 23 }, [{ from: ['b', 'a'], records: 23 }]) },
      exits: ['C'],
      total: [25, 2, 23],
    },
    {
      live: {
        D: worker('d', { received: 23, indexed: 20, onDisk: 3 }, [{ from: ['c', 'b', 'a'], records: 23 }]),
      },
      total: [25, 22, 3],
    },
  ],
  "an heir's heir reports before the supervisor knows that anyone has exited": [
    { live: { A, B }, total: [25, 0, 25] },
    {
      live: { C: worker('c', { received: 25, onDisk: 25 }, [{ from: ['b', 'a'], records: 25 }]), A, B },
      total: [25, 0, 25],
    },
    {
      live: {
        C: worker('c', { received: 25, onDisk: 25 }, [{ from: ['b', 'a'], records: 25 }]),
        A,
        B: worker('b', { received: 25, onDisk: 25 }, [TAKE_A]),
      },
      exits: ['B', 'A'],
      total: [25, 0, 25],
    },
    {
      live: { C: worker('c', { received: 25, indexed: 25 }, [{ from: ['b', 'a'], records: 25 }]) },
      total: [25, 25, 0],
    },
  ],
  'an emptied directory of an heir no longer names its creator': [
    { live: { A, B }, exits: ['A'], total: [25, 0, 25] },
    {
      live: { B: worker('b', { received: 25, indexed: 20, onDisk: 5 }, [TAKE_A]) },
      exits: ['B'],
      total: [25, 20, 5],
    },
    { live: { C: worker('c', { received: 5, onDisk: 5 }, [TAKE_B]) }, total: [25, 20, 5] },
  ],
}

for (const [name, steps] of Object.entries(SEQUENCES)) {
  test(`no counter falls, and the counts add up at each step: ${name}`, () => {
    const ledger = new LogLedger()
    for (const [i, { live, exits = [], total }] of steps.entries()) {
      const check = (reports: readonly LogIdentity[], when: string): void => {
        const log = ledger.total(reports)
        assert.equal(isWhole(log), true, JSON.stringify(log))
        assert.deepEqual([log.received, log.indexed, log.onDisk], total, `step ${i}, ${when}`)
      }
      const reports = new Map(Object.entries(live))
      check([...reports.values()], 'reported')
      for (const exited of exits) {
        ledger.retire(reports.get(exited)!)
        reports.delete(exited)
        check([...reports.values()], `${exited} has exited`)
      }
    }
  })
}

test("a target that takes over another's spool counts its records, and no count goes backwards", () => {
  const ledger = new LogLedger()
  const old = worker('a', { received: 5, indexed: 2, onDisk: 3 })
  ledger.retire({ ...old, targets: { siem: old } })
  const taken = worker('b', { received: 3, onDisk: 3 }, [{ from: ['a'], records: 3 }])
  const { targets, ...total } = ledger.total([{ ...taken, targets: { audit: taken } }])
  assert.equal(isWhole(total), true)
  assert.deepEqual([targets!['siem']!.received, targets!['siem']!.onDisk], [5, 0])
  assert.deepEqual([targets!['audit']!.received, targets!['audit']!.onDisk], [3, 3])
})

test('removed dead letters stay counted after their worker exits, outside the sum', () => {
  const ledger = new LogLedger()
  ledger.retire({ ...EMPTY_LOG, received: 4, dead: 4, deadRemoved: 3 })
  const total = ledger.total([{ ...EMPTY_LOG, received: 1, dead: 1, deadRemoved: 7 }])
  assert.equal(isWhole(total), true)
  assert.deepEqual([total.dead, total.deadRemoved], [5, 10])
})
