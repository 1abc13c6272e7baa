import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import fs, { cpSync, readdirSync, readFileSync, truncateSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { scratchDir } from '../testing.js'
import { Mark } from './mark.js'
import { kill, now, openSpool, put } from './testing/open-spool.js'

const THIS_FILE = fileURLToPath(import.meta.url)
/** Number of adopters, which wait for each other at a barrier before they start. */
const ADOPTERS = 3
const ROUNDS = 60
const OWNERS = 3
/** Records of an owner: encoded, and complete on disk. */
const ENCODED = 20
const WHOLE = 10
/** File system calls that change a spool directory. */
const CHANGES = ['renameSync', 'truncateSync', 'rmSync', 'unlinkSync', 'rmdirSync'] as const

const [, , rootOfHeir, stepsOfHeir] = process.argv
if (!isMainThread) serveAdopter(workerData as SharedArrayBuffer)
else if (rootOfHeir !== undefined) inheritUntil(rootOfHeir, Number(stepsOfHeir))
else defineTests()

/** Creates an owner that was killed while writing its second batch. */
function leaveCutOff(root: string): void {
  const { spool, options } = openSpool(root, { encoded: () => ENCODED })
  const dir = join(root, options.owner)
  put(spool, 10)
  put(spool, 5)
  const mark = new Mark(dir, true)
  mark.set({ encoded: ENCODED, safe: 10, openFirst: 0, openRecords: 10 })
  mark.close()
  const file = join(dir, '000000000000000.open')
  truncateSync(file, readFileSync(file).length - 5)
  kill(root, options.owner)
}

/** Thread program: adopts from every root it is given, at the same moment as the others. */
function serveAdopter(memory: SharedArrayBuffer): void {
  const arrived = new Int32Array(memory)
  let close = (): void => {}
  parentPort!.on('message', (root: string | null) => {
    if (root === null) return close()
    const { spool, ledger } = openSpool(root)
    close = () => {
      spool.close()
      parentPort!.postMessage(null)
    }
    const round = Math.floor(Atomics.add(arrived, 0, 1) / ADOPTERS) + 1
    while (Atomics.load(arrived, 0) < round * ADOPTERS);
    spool.maintain(now())
    const { account, reasons } = ledger
    parentPort!.postMessage({ account, reasons } satisfies Reported)
  })
}

/** Process program: adopts from the root, and kills itself after a number of changes. */
function inheritUntil(root: string, steps: number): void {
  const { spool } = openSpool(root)
  let left = steps
  for (const name of CHANGES) {
    const change = fs[name] as (...args: unknown[]) => void
    Reflect.set(fs, name, (...args: unknown[]) => {
      if (left-- === 0) process.kill(process.pid, 'SIGKILL')
      change(...args)
    })
  }
  syncBuiltinESMExports()
  spool.maintain(now())
  process.exit()
}

function startAdopters(t: TestContext): Worker[] {
  const memory = new SharedArrayBuffer(4)
  const adopters = Array.from({ length: ADOPTERS }, () => new Worker(THIS_FILE, { workerData: memory }))
  t.after(() => Promise.all(adopters.map((adopter) => adopter.terminate())))
  return adopters
}

/** Sends a message to all adopters and returns their answers. */
function ask(adopters: readonly Worker[], message: string | null): Promise<unknown[]> {
  return Promise.all(
    adopters.map(async (adopter) => {
      adopter.postMessage(message)
      return ((await once(adopter, 'message')) as unknown[])[0]
    }),
  )
}

type Reported = Pick<ReturnType<typeof openSpool>['ledger'], 'account' | 'reasons'>

function defineTests(): void {
  test('with concurrent adopters, each record is counted exactly once', async (t) => {
    const estate = scratchDir()
    for (let i = 0; i < OWNERS; i++) leaveCutOff(estate)
    const adopters = startAdopters(t)
    let rivalries = 0
    for (let round = 0; round < ROUNDS; round++) {
      const root = scratchDir()
      cpSync(estate, root, { recursive: true })
      const reported = (await ask(adopters, root)) as Reported[]
      const sum = (key: 'received' | 'onDisk' | 'dropped') =>
        reported.reduce((total, { account }) => total + account[key], 0)
      assert.deepEqual(
        { received: sum('received'), onDisk: sum('onDisk'), dropped: sum('dropped') },
        { received: OWNERS * ENCODED, onDisk: OWNERS * WHOLE, dropped: OWNERS * (ENCODED - WHOLE) },
        `round ${round}: ${JSON.stringify(reported)}`,
      )
      assert.ok(reported.every(({ reasons }) => reasons.every((reason) => reason === 'process_lost')))
      if (reported.filter(({ account }) => account.received > 0).length > 1) rivalries++
      await ask(adopters, null)
      assert.equal(recordsIn(root), OWNERS * WHOLE)
    }
    assert.ok(rivalries > 0, 'several adopters have had a share of the same round')
  })

  test('the next adopter completes a takeover that was interrupted at any step', async (t) => {
    const estate = scratchDir()
    leaveCutOff(estate)
    let steps = 0
    for (; ; steps++) {
      const root = scratchDir()
      cpSync(estate, root, { recursive: true })
      const child = fork(THIS_FILE, [root, String(steps)])
      t.after(() => child.kill('SIGKILL'))
      if (!(await wasKilled(child))) break
      const { spool, ledger } = openSpool(root)
      spool.maintain(now())
      const { received, onDisk, dropped } = ledger.account
      assert.deepEqual(
        { received, onDisk, dropped, reasons: ledger.reasons },
        { received: ENCODED, onDisk: WHOLE, dropped: ENCODED - WHOLE, reasons: ['process_lost'] },
        `killed before step ${steps}`,
      )
      for (let segment = spool.take(); segment !== null; segment = spool.take()) spool.settle(segment)
      spool.close()
      assert.deepEqual(readdirSync(root), [])
    }
    // The directory, the torn end, the name of the segment, the lock, the mark.
    assert.ok(steps >= 5, `${steps} steps`)
  })
}

async function wasKilled(child: ChildProcess): Promise<boolean> {
  const [code, signal] = await once(child, 'exit')
  assert.ok(code === 0 || signal === 'SIGKILL', `${code} ${signal}`)
  return signal === 'SIGKILL'
}

/** Returns the number of records in the names of all segments. */
function recordsIn(root: string): number {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
  return files.reduce((sum, file) => sum + Number(/-(\d+)\.seg$/.exec(file)?.[1] ?? 0), 0)
}
