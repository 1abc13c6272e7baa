import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, readFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { LogIdentity } from '@sluice/core'
import { openShippingSink } from '../../sinks/shipping-sink.js'
import { assertIdentity, sampleExchange, scratchDir, until } from '../../testing.js'

const THIS_FILE = fileURLToPath(import.meta.url)

/** Report of the process. */
interface Reported {
  readonly identity: LogIdentity
  /** Longest time that a record blocked its caller, in milliseconds. */
  readonly slowestMs: number
  readonly problem: string
}

if (process.argv[2] === 'worker') runWorker(process.argv[3]!)
else defineTests()

/** Runs a process that writes its traffic log to standard output. It reports over IPC. */
function runWorker(dir: string): void {
  let problem = ''
  let slowestMs = 0
  const sink = openShippingSink({
    ...{ fields: 'full', worker: 1, version: 'test', configDigest: () => 'd1' },
    spool: { dir, maxBytes: 256 * 1024 ** 2, whenFull: 'drop-oldest' },
    output: { kind: 'stdout' },
    onProblem: (text) => {
      problem = text
    },
  })
  const timer = setInterval(() => process.send!({ identity: sink.identity(), slowestMs, problem }), 20)
  const record = (prefix: string, from: number, count: number): void => {
    for (let i = from; i < Math.min(count, from + 200); i++) {
      const startedMono = performance.now()
      // Some are longer than an atomic pipe write.
      const path = i % 100 === 99 ? `/${'x'.repeat(9000)}` : '/orders'
      sink.record(sampleExchange({ id: `${prefix}-${i}`, path }))
      slowestMs = Math.max(slowestMs, performance.now() - startedMono)
    }
    if (from + 200 < count) setImmediate(record, prefix, from + 200, count)
  }
  process.on('message', async (message: { prefix: string; count: number } | 'close') => {
    if (message !== 'close') {
      record(message.prefix, 0, message.count)
      return
    }
    clearInterval(timer)
    await sink.close(4000)
    process.send!({ identity: sink.identity(), slowestMs, problem })
    process.disconnect()
  })
}

interface Worker {
  readonly child: ChildProcess
  /** Reading end of its standard output. */
  readonly output: Readable | null
  readonly reported: () => Reported | null
  log(prefix: string, count: number): void
  /** Stops the process and returns its last report. */
  close(): Promise<Reported>
}

/** Pipe of a shell, socket as in Node.js and systemd, or a file descriptor. */
type Output = 'pipe' | 'socket' | number

function startWorker(t: TestContext, output: Output, dir = scratchDir()): Worker {
  const pipe = output === 'pipe' ? openPipe() : null
  const stdout = output === 'socket' ? 'pipe' : (pipe?.write ?? (output as number))
  const child = spawn(process.execPath, [THIS_FILE, 'worker', dir], {
    stdio: ['ignore', stdout, 'inherit', 'ipc'],
  })
  if (pipe !== null) closeSync(pipe.write)
  t.after(() => {
    child.kill('SIGKILL')
    pipe?.reader.destroy()
  })
  let reported: Reported | null = null
  child.on('message', (message) => {
    reported = message as Reported
  })
  const close = async (): Promise<Reported> => {
    child.send('close')
    const [code, signal] = await once(child, 'exit')
    assert.deepEqual([code, signal], [0, null])
    return reported!
  }
  return {
    ...{ child, output: pipe?.reader ?? child.stdout, reported: () => reported },
    log: (prefix, count) => child.send({ prefix, count }),
    close,
  }
}

/** Creates a pipe like a shell does. The pipes of Node.js are sockets. */
function openPipe(): { readonly write: number; readonly reader: Readable } {
  const path = join(scratchDir(), 'pipe')
  assert.equal(spawnSync('mkfifo', [path]).status, 0)
  const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const write = openSync(path, 'w')
  return { write, reader: new Socket({ fd: read, readable: true, writable: false }) }
}

/** Returns a function that lists the IDs of the records in the output so far. */
function collect({ output }: Worker): () => string[] {
  let text = ''
  output!.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk
  })
  return () => idsOf(text)
}

/** Returns the IDs of the records in complete lines. Every line must be a record. */
function idsOf(text: string): string[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line).id)
}

function idsFor(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}-${i}`).sort()
}

function defineTests(): void {
  defineOutputTests('pipe')
  defineOutputTests('socket')
  test('a file gets the same output as a pipe, after existing content', async (t) => {
    const file = join(scratchDir(), 'out.txt')
    const descriptor = openSync(file, 'w')
    const worker = startWorker(t, descriptor)
    const other = startWorker(t, descriptor)
    closeSync(descriptor)
    worker.log('a', 500)
    other.log('b', 500)
    const isDone = ({ reported }: Worker): boolean => reported()?.identity.indexed === 500
    await until(() => isDone(worker) && isDone(other), 'all are written', 300_000)
    await Promise.all([worker.close(), other.close()])
    const expected = [...idsFor('a', 500), ...idsFor('b', 500)].sort()
    assert.deepEqual(idsOf(readFileSync(file, 'latin1')).sort(), expected)
  })
}

function defineOutputTests(kind: 'pipe' | 'socket'): void {
  test(`every record is one line on a pipe, once (${kind})`, async (t) => {
    const worker = startWorker(t, kind)
    const ids = collect(worker)
    worker.log('r', 5000)
    await until(() => worker.reported()?.identity.indexed === 5000, 'all are written', 300_000)
    const { identity } = await worker.close()
    assertIdentity(identity)
    assert.deepEqual([identity.received, identity.indexed], [5000, 5000])
    await until(() => ids().length >= 5000, 'all have been read')
    assert.deepEqual(ids().sort(), idsFor('r', 5000))
  })

  test(`an unread pipe blocks no request and gets every record once it is read (${kind})`, async (t) => {
    const worker = startWorker(t, kind)
    worker.log('r', 8000)
    const kept = (): number => {
      const identity = worker.reported()?.identity
      return identity === undefined ? 0 : identity.indexed + identity.onDisk
    }
    await until(() => kept() === 8000, 'the pipe is full and the rest is on disk', 300_000)
    const { identity, slowestMs } = worker.reported()!
    assert.ok(identity.indexed < 2000 && identity.onDisk > 6000, JSON.stringify(identity))
    assert.ok(slowestMs < 2000, `${slowestMs} ms`)
    const ids = collect(worker)
    await until(() => worker.reported()!.identity.indexed === 8000, 'all are written', 300_000)
    assert.deepEqual((await worker.close()).identity.indexed, 8000)
    await until(() => ids().length >= 8000, 'all have been read')
    assert.deepEqual(ids().sort(), idsFor('r', 8000))
  })

  test(`a closed pipe does not end the process; records wait on disk for the next one (${kind})`, async (t) => {
    const dir = scratchDir()
    const worker = startWorker(t, kind, dir)
    worker.output!.destroy()
    worker.log('r', 1000)
    await until(
      () => (worker.reported()?.problem ?? '').includes('standard output is closed'),
      'it is reported',
    )
    const { identity } = await worker.close()
    assertIdentity(identity)
    assert.deepEqual([identity.onDisk, identity.dropped], [1000, 0])
    const next = startWorker(t, kind, dir)
    const ids = collect(next)
    await until(() => next.reported()?.identity.indexed === 1000, 'the next one delivers them', 300_000)
    await next.close()
    await until(() => ids().length >= 1000, 'all have been read')
    assert.deepEqual(ids().sort(), idsFor('r', 1000))
  })

  test(`a worker ends in time though its pipe is full (${kind})`, async (t) => {
    const worker = startWorker(t, kind)
    worker.log('r', 3000)
    const isFull = ({ received, onDisk }: LogIdentity): boolean => received === 3000 && onDisk > 1000
    await until(
      () => worker.reported() !== null && isFull(worker.reported()!.identity),
      'the pipe is full',
      60_000,
    )
    worker.child.send('close')
    await once(worker.child, 'exit')
    const { identity } = worker.reported()!
    assertIdentity(identity)
    assert.deepEqual([identity.received, identity.dropped], [3000, 0])
  })
}
