import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import type { ProcessRow, ProcessTable } from './process-use.js'
import { TreeWatch } from './tree-watch.js'

const BURNT_MICROS = 300_000
const TICK_MICROS = 10_000

/** Each time it is told something, a child of its works for 0.3 s and ends, and it says so. */
const PRIMARY = `const { spawn } = require('node:child_process')
  const work = 'while (process.cpuUsage().user < ${BURNT_MICROS});'
  process.on('message', () => {
    spawn(process.execPath, ['-e', work]).once('exit', () => process.send('ended'))
  })
  process.send('up')`

async function primary(t: TestContext): Promise<ChildProcess & { readonly pid: number }> {
  const child = spawn(process.execPath, ['-e', PRIMARY], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  t.after(() => child.kill('SIGKILL'))
  await once(child, 'message')
  return child as typeof child & { readonly pid: number }
}

test('what a process used that has begun and ended meanwhile is counted', async (t) => {
  const child = await primary(t)
  const tree = new TreeWatch(child.pid)
  child.send('work')
  await once(child, 'message')
  tree.look()
  assert.equal(tree.lost, null)
  assert.ok(tree.cpuMicros > BURNT_MICROS - 2 * TICK_MICROS, String(tree.cpuMicros))
  assert.ok(tree.rssBytes > 1_000_000)
})

/** A table that says what a test wants, look by look. */
function tables(
  ...looks: readonly Record<number, readonly [parent: number, own: number, children?: number]>[]
) {
  const left = looks.map(
    (look) => new Map(Object.entries(look).map(([pid, row]) => [Number(pid), rowOf(row)])),
  )
  return (): ProcessTable => left.shift()!
}

function rowOf([parent, ownMicros, childrenMicros = 0]: readonly [number, number, number?]): ProcessRow {
  return { parent, startedAt: 1, ownMicros, childrenMicros }
}

test('the time of a child that has ended moves to who asked for its status, and is counted once', () => {
  const table = tables(
    { 10: [1, 100_000], 11: [10, 500_000] },
    { 10: [1, 110_000], 11: [10, 700_000] },
    { 10: [1, 120_000, 750_000], 12: [10, 40_000] },
  )
  const tree = new TreeWatch(10, table)
  tree.look()
  assert.equal(tree.cpuMicros, 210_000)
  tree.look()
  assert.deepEqual([tree.cpuMicros, tree.lost], [310_000, null])
})

test('the time of a child that nobody has asked for is not known from then on', () => {
  const gone = { 10: [1, 120_000, 0] } as const
  const tree = new TreeWatch(10, tables({ 10: [1, 100_000], 11: [10, 500_000] }, gone, gone))
  tree.look()
  assert.deepEqual([tree.cpuMicros, tree.lost], [Number.NaN, 11])
  tree.look()
  assert.deepEqual([tree.cpuMicros, tree.lost], [Number.NaN, 11])
})

test('a process that has lost its parent is followed until it ends, and then its time is not known', () => {
  const table = tables(
    { 10: [1, 0], 11: [10, 50_000], 12: [11, 500_000] },
    { 10: [1, 0, 60_000], 12: [1, 600_000] },
    { 10: [1, 0, 60_000] },
  )
  const tree = new TreeWatch(10, table)
  tree.look()
  assert.deepEqual([tree.cpuMicros, tree.lost], [110_000, null])
  tree.look()
  assert.deepEqual([tree.cpuMicros, tree.lost], [Number.NaN, 12])
})

test('a process and its children that end together are with the ancestor that lives', () => {
  const table = tables({ 10: [1, 0], 11: [10, 50_000], 12: [11, 500_000] }, { 10: [1, 0, 560_000] })
  const tree = new TreeWatch(10, table)
  tree.look()
  assert.deepEqual([tree.cpuMicros, tree.lost], [10_000, null])
})

test('a number that belongs to another process now is not the one that was followed', () => {
  const other = new Map([
    [10, { ...rowOf([1, 0]), childrenMicros: 500_000 }],
    [11, { ...rowOf([1, 9_000_000]), startedAt: 2 }],
  ])
  const first = tables({ 10: [1, 0], 11: [10, 500_000] })()
  const looks = [first, other]
  const tree = new TreeWatch(10, () => looks.shift()!)
  tree.look()
  assert.deepEqual([tree.cpuMicros, tree.lost], [0, null])
})
