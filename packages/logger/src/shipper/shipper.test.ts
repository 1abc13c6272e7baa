import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Delivery, LogOutput, Shipment } from '../outputs/output.js'
import type { LogChange } from '../queue/messages.js'
import { ownerName } from '../spool/owner-name.js'
import { Spool } from '../spool/spool.js'
import { scratchDir, until } from '../testing.js'
import { DeadLetters } from './dead-letters.js'
import { Shipper } from './shipper.js'

type Answer = (shipment: Shipment, attempt: number) => Delivery | Promise<Delivery>

const DELIVERED: Delivery = { kind: 'answered', refused: [], again: [] }

function bench(t: TestContext, answer: Answer, holdMs?: number) {
  const root = scratchDir()
  const owner = ownerName(0)
  const account = { received: 0, indexed: 0, dead: 0, dropped: 0, onDisk: 0, inMemory: 0 }
  const problems: string[] = []
  const report = (change: LogChange): void => {
    account.received += (change.taken ?? 0) + (change.adopted ?? 0)
    for (const key of ['indexed', 'dead', 'dropped', 'onDisk', 'inMemory'] as const)
      account[key] += change[key] ?? 0
    const { received, indexed, dead, dropped, onDisk, inMemory } = account
    assert.equal(received, indexed + dead + dropped + onDisk + inMemory)
    if (change.problem) problems.push(change.problem)
  }
  /** Number of deliveries by ID. */
  const delivered = new Map<string, number>()
  const state = { attempts: 0, underWay: 0, maxConcurrent: 0, isClosed: false }
  const output: LogOutput = {
    async deliver(shipment) {
      state.maxConcurrent = Math.max(state.maxConcurrent, ++state.underWay)
      const delivery = await answer(shipment, ++state.attempts)
      state.underWay--
      if (delivery.kind === 'answered') {
        const out = new Set([...delivery.again, ...delivery.refused.map(({ index }) => index)])
        for (let i = 0; i < shipment.count; i++) {
          if (!out.has(i)) delivered.set(shipment.idOf(i), (delivered.get(shipment.idOf(i)) ?? 0) + 1)
        }
      }
      return delivery
    },
    close: async () => {
      state.isClosed = true
    },
  }
  const spool = new Spool(
    {
      root,
      owner,
      encoded: () => account.received,
      isDirectoryMade: false,
      sealAfterMs: 1000,
      maxBytes: 1e9,
      shareBytes: 1e9,
      minFreeBytes: 0,
      whenFull: 'drop-oldest',
    },
    report,
  )
  const deadLetters = new DeadLetters(root, owner, report)
  const hold = holdMs === undefined ? {} : { holdMs }
  const shipper = new Shipper({ spool, output, deadLetters, report, ...hold })
  t.after(() => shipper.close(0))
  let next = 0
  /** Appends records to the spool, a number per segment, and ships them. */
  const take = (segments: number, records: number): void => {
    for (let i = 0; i < segments; i++) {
      const lines = Array.from({ length: records }, () => `{"n":${next++}}\n`)
      spool.append(Buffer.from(lines.join('')), records)
      spool.sealOpen()
    }
    shipper.pump()
  }
  return { root, account, problems, delivered, state, spool, shipper, take }
}

test('every record is delivered once, under a unique ID', async (t) => {
  const { take, account, delivered } = bench(t, () => DELIVERED)
  take(5, 100)
  await until(() => account.indexed === 500, 'all are delivered')
  assert.equal(delivered.size, 500)
  assert.deepEqual([...new Set(delivered.values())], [1])
  assert.equal(account.onDisk, 0)
})

test('a target that does not respond is retried by one delivery at a time', async (t) => {
  const { take, account, state, problems } = bench(t, (_, attempt) =>
    attempt <= 4 ? { kind: 'failed', overload: false, reason: 'nobody is at home' } : DELIVERED,
  )
  take(6, 10)
  await until(() => account.indexed === 60, 'all are delivered')
  assert.match(problems[0] ?? '', /delivery is paused: nobody is at home/)
  assert.ok(state.attempts >= 10)
})

test('a shipment tells if an earlier attempt on the same segment got no response', async (t) => {
  const reported: boolean[] = []
  const { take, account } = bench(t, ({ mayBeDelivered }, attempt) => {
    reported.push(mayBeDelivered)
    if (attempt === 2) return { kind: 'failed', overload: false, reason: 'the answer was lost' }
    return attempt === 1 ? { kind: 'answered', refused: [], again: [0] } : DELIVERED
  })
  take(1, 10)
  await until(() => account.indexed === 10, 'the first are delivered')
  take(1, 10)
  await until(() => account.indexed === 20, 'all are delivered')
  assert.deepEqual(reported, [false, false, true, false])
})

const CLOSED = { status: 400, type: 'index_closed_exception', reason: 'closed', isTemporary: true }

test('records that the index refuses for now are held, and delivered once it takes them', async (t) => {
  const { take, account, problems, delivered } = bench(t, (_, attempt) => {
    if (attempt === 1)
      return { kind: 'answered', refused: [0, 1, 2].map((index) => ({ index, ...CLOSED })), again: [] }
    if (attempt === 2) return { kind: 'answered', refused: [{ index: 1, ...CLOSED }], again: [0] }
    return DELIVERED
  })
  take(1, 3)
  await until(() => account.indexed === 3, 'all are delivered')
  assert.equal(account.dead, 0)
  assert.deepEqual([...delivered.values()], [1, 1, 1])
  assert.match(problems[0] ?? '', /temporarily refuses 3 of 3 records \(400 index_closed_exception: closed\)/)
})

test('a record that is refused for now beyond the hold time becomes a dead letter, with a remedy', async (t) => {
  const { take, account, problems } = bench(
    t,
    () => ({ kind: 'answered', refused: [{ index: 0, ...CLOSED }], again: [] }),
    0,
  )
  take(1, 2)
  await until(() => account.dead === 1, 'it is a dead letter')
  assert.equal(account.indexed, 1)
  assert.match(problems.join(), /repair the index, then run 'gw logs replay-dead'/)
})

test('only what was refused for the moment is sent again', async (t) => {
  const seen: number[] = []
  const { take, account, delivered } = bench(t, (shipment) => {
    seen.push(shipment.count)
    const again = Array.from({ length: shipment.count }, (_, i) => i).filter((i) => i % 2 === 1)
    return { kind: 'answered', refused: [], again }
  })
  take(1, 100)
  await until(() => account.indexed === 100, 'all are delivered')
  assert.equal(seen[0], 100)
  assert.deepEqual([...new Set(delivered.values())], [1])
})

test('permanently refused records become dead letters, with the reason', async (t) => {
  const { take, account, root } = bench(t, (shipment) => ({
    kind: 'answered',
    refused: Array.from({ length: shipment.count }, (_, index) => index)
      .filter((index) => index % 10 === 0)
      .map((index) => ({ index, status: 400, type: 'document_parsing_exception', reason: 'no "date"' })),
    again: [],
  }))
  take(2, 50)
  await until(() => account.dead === 10 && account.indexed === 90, 'all are settled')
  const files = readdirSync(join(root, 'dead'))
  const letters = files.flatMap((file) =>
    readFileSync(join(root, 'dead', file), 'utf8')
      .trimEnd()
      .split('\n'),
  )
  assert.equal(letters.length, 10)
  const { id, status, type, reason, record } = JSON.parse(letters[0]!)
  assert.match(id, /-0$/)
  assert.deepEqual(
    { status, type, reason, record },
    {
      ...{ status: 400, type: 'document_parsing_exception', reason: 'no "date"', record: { n: 0 } },
    },
  )
})

test('a shipment that is refused as a whole is divided until the one record to blame is found', async (t) => {
  const isSpoiled = (shipment: Shipment): boolean =>
    Array.from({ length: shipment.count }, (_, i) => shipment.jsonOf(i).toString()).includes('{"n":37}')
  const { take, account } = bench(t, (shipment) =>
    isSpoiled(shipment) ? { kind: 'unfit', status: 413, reason: 'too large' } : DELIVERED,
  )
  take(1, 100)
  await until(() => account.indexed + account.dead === 100, 'all are settled')
  assert.deepEqual([account.indexed, account.dead], [99, 1])
})

test('several deliveries are under way at once when the target keeps up', async (t) => {
  const { take, account, state } = bench(t, async () => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    return DELIVERED
  })
  take(60, 10)
  await until(() => account.indexed === 600, 'all are delivered')
  assert.ok(state.maxConcurrent > 1 && state.maxConcurrent <= 4, `${state.maxConcurrent} at once`)
})

test('closing ships all records, and those that the target does not accept stay on disk', async (t) => {
  const well = bench(t, () => DELIVERED)
  well.take(1, 10)
  // Records in a segment that is still open.
  well.spool.append(Buffer.from('{}\n'), 1)
  await well.shipper.close(5000)
  assert.deepEqual([well.account.indexed, well.state.isClosed], [11, true])
  const ill = bench(t, () => ({ kind: 'failed', overload: false, reason: 'down' }))
  ill.take(3, 10)
  await ill.shipper.close(50)
  assert.deepEqual([ill.account.onDisk, ill.account.indexed], [30, 0])
  assert.equal(readdirSync(ill.root).length, 1)
})

/** Returns the lines of all dead-letter files, or no lines without a directory. */
function lettersIn(root: string): string[] {
  const dir = join(root, 'dead')
  if (!existsSync(dir)) return []
  const text = readdirSync(dir).map((name) => readFileSync(join(dir, name), 'utf8'))
  return text.join('').split('\n').slice(0, -1)
}

for (const deadlineMs of [null, 5000, 0]) {
  const when = deadlineMs === null ? 'in time' : `when it is closed meanwhile, within ${deadlineMs} ms`
  test(`refused records are written in parts, each once: ${when}`, async (t) => {
    const refusal = { status: 400, type: 'document_parsing_exception', reason: 'no' }
    const { take, account, root, shipper } = bench(t, (shipment) => ({
      kind: 'answered',
      refused: Array.from({ length: shipment.count }, (_, index) => ({ index, ...refusal })).slice(100),
      again: [],
    }))
    take(1, 3000)
    await until(() => lettersIn(root).length > 0, 'the first are buried')
    if (deadlineMs !== null) {
      assert.ok(lettersIn(root).length < 2900)
      await shipper.close(deadlineMs)
    } else await until(() => account.dead === 2900, 'all are buried')
    assert.deepEqual([account.indexed, account.dead, account.onDisk, account.inMemory], [100, 2900, 0, 0])
    const ids = lettersIn(root).map((line) => (JSON.parse(line) as { id: string }).id)
    assert.equal(ids.length, 2900)
    assert.equal(new Set(ids).size, 2900)
  })
}
