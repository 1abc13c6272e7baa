import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { LogIdentity, LogSink } from '@sluice/core'
import { assertIdentity, closeWhole, sampleExchange, scratchDir, until } from '../testing.js'
import { openShippingSink } from './shipping-sink.js'

// Gap records of log threads and processes that end before they have reported their losses. With a directory as
// argument, this file is a process that logs while the target is down.

const THIS_FILE = fileURLToPath(import.meta.url)
const RECORDS = 600
/** Room for about 200 records. */
const SPOOL_BYTES = 150_000

/** A target whose behaviour is in the file `mode`. `exit` ends the log thread. */
const TARGET = `
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
export default ({ dir }) => ({
  async deliver(shipment) {
    const mode = readFileSync(dir + '/mode', 'utf8')
    if (mode === 'exit') {
      writeFileSync(dir + '/mode', 'down')
      process.exit(1)
    }
    if (mode === 'down') return { kind: 'failed', overload: false, reason: 'down' }
    for (let i = 0; i < shipment.count; i++) appendFileSync(dir + '/records', shipment.jsonOf(i) + '\\n')
    return { kind: 'answered', refused: [], again: [] }
  },
  async close() {},
})`

const [, , dirOfProcess] = process.argv
if (dirOfProcess === undefined) defineTests()
else await logWhileDown(dirOfProcess)

function openSink(dir: string): LogSink {
  return openShippingSink({
    ...{ fields: 'standard', worker: 1, version: '0.1.0', configDigest: () => 'abc' },
    spool: { dir: join(dir, 'spool'), maxBytes: SPOOL_BYTES, whenFull: 'drop-oldest' },
    output: { kind: 'custom', module: './target.mjs', from: dir, options: { dir } },
  })
}

/** Logs more than the spool can hold. Resolves when the losses are counted. */
async function overfill(sink: LogSink): Promise<void> {
  const { received } = sink.identity()
  for (let i = 0; i < RECORDS; i++) sink.record(sampleExchange({ id: `r-${i}` }))
  await until(
    () => sink.identity().inMemory === 0 && sink.identity().received >= received + RECORDS,
    'all are spooled or dropped',
  )
}

/** Takes over what others have left, loses records, and reports the counts. */
async function logWhileDown(dir: string): Promise<void> {
  const sink = openSink(dir)
  const left = Number(existsSync(join(dir, 'left')) ? readFileSync(join(dir, 'left'), 'utf8') : 0)
  await until(() => sink.identity().received === left, 'the records of others are taken over')
  await overfill(sink)
  process.send!(sink.identity())
}

async function reportOf(child: ChildProcess): Promise<LogIdentity> {
  return ((await once(child, 'message')) as [LogIdentity])[0]
}

/** Lets processes lose records one after another, and kills each. Returns the number of lost records. */
async function killProcesses(t: TestContext, dir: string, processes: number): Promise<number> {
  let dropped = 0
  for (let i = 0; i < processes; i++) {
    const child = fork(THIS_FILE, [dir])
    t.after(() => child.kill('SIGKILL'))
    const identity = await reportOf(child)
    assertIdentity(identity)
    child.kill('SIGKILL')
    await once(child, 'exit')
    dropped += identity.dropped
    writeFileSync(join(dir, 'left'), String(identity.onDisk))
  }
  return dropped
}

/** Returns the sum of the losses in all gap records that the target has. */
function reportedLosses(dir: string): number {
  if (!existsSync(join(dir, 'records'))) return 0
  const lines = readFileSync(join(dir, 'records'), 'utf8').split('\n').slice(0, -1)
  const gaps = lines.map((line) => JSON.parse(line)).filter(({ event }) => event?.kind === 'gap')
  return gaps.reduce((sum, { log }) => sum + log.dropped, 0)
}

function defineTests(): void {
  for (const { name, processes, isThreadKilled } of [
    { name: 'a thread', processes: 0, isThreadKilled: true },
    { name: 'a process', processes: 1, isThreadKilled: false },
    { name: 'two processes in a row, and then a thread', processes: 2, isThreadKilled: true },
  ]) {
    test(`gap records contain all losses, though ${name} ended before it had sent them`, async (t) => {
      const dir = scratchDir()
      writeFileSync(join(dir, 'target.mjs'), TARGET)
      writeFileSync(join(dir, 'mode'), 'down')
      const before = await killProcesses(t, dir, processes)
      const sink = openSink(dir)
      t.after(() => closeWhole(sink, 0))
      await overfill(sink)
      if (isThreadKilled) {
        writeFileSync(join(dir, 'mode'), 'exit')
        await until(() => readFileSync(join(dir, 'mode'), 'utf8') === 'down', 'the thread has ended')
      }
      writeFileSync(join(dir, 'mode'), 'up')
      await until(() => sink.identity().onDisk === 0 && sink.identity().indexed > 0, 'all are delivered')
      const lost = (): number => before + sink.identity().dropped
      await until(() => reportedLosses(dir) >= lost(), `${lost()} losses are reported`, 60_000)
      assert.equal(reportedLosses(dir), lost())
      assert.ok(sink.identity().dropped > 100 && (processes === 0 || before > 100))
      assertIdentity(sink.identity())
    })
  }
}
