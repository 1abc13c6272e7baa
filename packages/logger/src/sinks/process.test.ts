import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { LogIdentity, LogSink } from '@sluice/core'
import { assertIdentity, sampleExchange, scratchDir, segmentFiles, segmentLines, until } from '../testing.js'
import { openFileSink } from './file-sink.js'

const MIB = 1024 ** 2
const THIS_FILE = fileURLToPath(import.meta.url)

/** Programs of logging processes. A process runs this file with the program's name and the directory. */
const PARTS: Readonly<Record<string, (sink: LogSink, dir: string) => Promise<void>>> = {
  /** Logs until it is killed, and reports its progress. */
  async endless(sink) {
    for (let i = 0; ; i++) {
      sink.record(sampleExchange({ id: `r-${i}` }))
      if (i % 20 === 19) {
        process.send?.(sink.identity())
        await sleep(1)
      }
    }
  },
  /** Logs batches of five, waits for each, and reports the result. */
  async batches(sink, dir) {
    for (let i = 0; i < 40; i++) {
      for (let k = 0; k < 5; k++) sink.record(sampleExchange({ id: `r-${i}-${k}` }))
      await until(() => sink.identity().inMemory === 0, 'the batch is settled')
    }
    await sink.close(10_000)
    process.send?.({ identity: sink.identity(), ...found(dir) } satisfies Outcome)
    process.disconnect?.()
  },
  /** Logs without closing the sink. */
  async forgetful(sink) {
    sink.record(sampleExchange())
    process.disconnect?.()
  },
}

const part = PARTS[process.argv[2] ?? '']
if (part === undefined) defineTests()
else await part(sinkOf(process.argv[3]!), process.argv[3]!)

function sinkOf(dir: string): LogSink {
  return openFileSink({
    ...{ dir, maxBytes: 64 * MIB, segmentBytes: 4 * MIB, fields: 'standard', worker: 0, version: '0.1.0' },
    configDigest: () => 'abc',
  })
}

/** Runs a program. `before` is shell code that runs first in the same process. */
function start(t: TestContext, name: string, dir: string, before = ''): ChildProcess {
  const script = `${before} exec "$@"`
  const child = spawn('sh', ['-c', script, 'sh', process.execPath, THIS_FILE, name, dir], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  t.after(() => child.kill('SIGKILL'))
  return child
}

/** Result of a program, reported by itself because it may use a separate file system. */
interface Outcome {
  readonly identity: LogIdentity
  readonly ids: readonly string[]
  /** Names of segments that are empty or end with an incomplete line. */
  readonly unclean: readonly string[]
}

function found(dir: string): Pick<Outcome, 'ids' | 'unclean'> {
  const unclean = segmentFiles(dir).filter((file) => !readFileSync(join(dir, file), 'utf8').endsWith('\n'))
  return { ids: segmentLines(dir).map((line) => JSON.parse(line).id), unclean }
}

/** Returns the counts at the end of a program, after checking that exactly the indexed records are on disk. */
async function outcomeOf(child: ChildProcess): Promise<LogIdentity> {
  const [{ identity, ids, unclean }] = (await once(child, 'message')) as [Outcome]
  assertIdentity(identity)
  assert.deepEqual(unclean, [])
  assert.equal(ids.length, identity.indexed)
  assert.equal(new Set(ids).size, identity.indexed)
  return identity
}

function defineTests(): void {
  test('after kill -9 every record that was acknowledged is on disk', async (t) => {
    const dir = scratchDir()
    const child = start(t, 'endless', dir)
    let reported: LogIdentity | null = null
    child.on('message', (identity) => {
      reported = identity as LogIdentity
      if (reported.indexed > 3000) child.kill('SIGKILL')
    })
    const [, signal] = await once(child, 'close')
    assert.equal(signal, 'SIGKILL')
    const { indexed } = reported as unknown as LogIdentity
    const kept = new Set(found(dir).ids)
    for (let i = 0; i < indexed; i++) assert.ok(kept.has(`r-${i}`), `r-${i} of ${indexed} is missing`)
  })

  test('a partial write leaves no incomplete line, and the next segment is used', async (t) => {
    const dir = scratchDir()
    // No file may grow beyond 16 blocks, 8 or 16 KiB depending on the shell: some batches hit the limit, others not.
    const { received, indexed, dropped, droppedBy } = await outcomeOf(
      start(t, 'batches', dir, 'ulimit -f 16;'),
    )
    assert.ok(received === 200 && indexed >= 100 && dropped >= 5, JSON.stringify(droppedBy))
    assert.deepEqual(droppedBy, { write_error: dropped })
  })

  test('records lost on a full disk are counted, without incomplete lines or empty files', async (t) => {
    const dir = join(scratchDir(), 'small')
    mkdirSync(dir)
    // A separate file system needs a mount namespace, which not every machine allows.
    const mount = `mount -t tmpfs -o size=64k none '${dir}' &&`
    if (spawnSync('unshare', ['-m', 'sh', '-c', `${mount} true`]).status !== 0) {
      t.skip('no mount namespace for a small disk')
      return
    }
    const script = `${mount} exec "$@"`
    const argv = ['-m', 'sh', '-c', script, 'sh', process.execPath, THIS_FILE, 'batches', dir]
    const child = spawn('unshare', argv, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    const identity = await outcomeOf(child)
    assert.ok(identity.indexed > 50, JSON.stringify(identity))
    assert.deepEqual(identity.droppedBy, { disk_full: 200 - identity.indexed })
  })

  test('an open sink does not keep a process alive', async (t) => {
    const [code] = await once(start(t, 'forgetful', scratchDir()), 'close')
    assert.equal(code, 0)
  })
}
