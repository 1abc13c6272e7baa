import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { LogIdentity } from '@sluice/core'
import { elasticsearchSkip } from '../testing/elasticsearch.js'
import { connectionTo, freshDataStream, sharedElasticsearch } from '../testing/shared-elasticsearch.js'
import { TcpBridge } from '../testing/tcp-bridge.js'
import { assertIdentity, sampleExchange, scratchDir, until } from '../testing.js'
import { openShippingSink } from './shipping-sink.js'

// A spool on a full file system. Only the logging process sees it, in a separate mount namespace.

const THIS_FILE = fileURLToPath(import.meta.url)
const RECORDS = 6000
/** Too small for most of the records, which have about 700 bytes each. */
const DISK_BYTES = 1024 ** 2

type Stream = ReturnType<typeof connectionTo> & { readonly dataStream: string }

interface Reported {
  readonly identity: LogIdentity
  readonly problems: readonly string[]
}

const output = process.argv[2]
if (output === undefined) defineTest()
else await logTo(JSON.parse(output) as Stream, process.argv[3]!)

/** Logs, reports its progress, and ends on request. */
async function logTo(stream: Stream, dir: string): Promise<void> {
  const problems = new Set<string>()
  const sink = openShippingSink({
    ...{ fields: 'standard', worker: 1, version: '0.1.0', configDigest: () => 'abc' },
    onProblem: (problem) => problems.add(problem),
    spool: { dir, maxBytes: 64 * 1024 ** 2, whenFull: 'drop-oldest' },
    output: { kind: 'elasticsearch', ...stream, retentionDays: null, replicas: 0, manage: true },
  })
  const report = (): void => {
    process.send!({ identity: sink.identity(), problems: [...problems] } satisfies Reported)
  }
  setInterval(report, 50)
  process.once('message', () => {
    void sink.close(10_000).then(() => {
      report()
      process.exit()
    })
  })
  for (let i = 0; i < RECORDS; i++) {
    sink.record(sampleExchange({ id: `r-${i}` }))
    if (i % 200 === 199) await sleep(5)
  }
}

function defineTest(): void {
  test('with its disk full the log goes on in memory, and nothing is lost once the node takes records again', {
    skip: elasticsearchSkip,
  }, async (t) => {
    const dir = join(scratchDir(), 'small')
    mkdirSync(dir)
    // Not every machine allows mount namespaces.
    const mount = `mount -t tmpfs -o size=${DISK_BYTES} none '${dir}' &&`
    if (spawnSync('unshare', ['-m', 'sh', '-c', `${mount} true`]).status !== 0) {
      t.skip('no mount namespace for a small disk')
      return
    }
    const node = await sharedElasticsearch()
    t.after(() => node.release())
    const bridge = await TcpBridge.to(node.port)
    t.after(() => bridge.cut())
    const dataStream = freshDataStream()
    const stream: Stream = { ...connectionTo(node, `https://127.0.0.1:${bridge.port}`), dataStream }
    bridge.pause()
    const { child, reported } = start(t, `${mount} exec "$@"`, [JSON.stringify(stream), dir])
    await until(() => reported().identity.received === RECORDS, 'all are made', 300_000)
    await until(
      () => /records wait in memory: ENOSPC/.test(reported().problems.join('\n')),
      'it is reported',
      60_000,
    )
    await until(
      () => reported().identity.inMemory > RECORDS / 2,
      'what the disk does not take is kept',
      60_000,
    )
    assertIdentity(reported().identity)
    bridge.resume()
    await until(() => reported().identity.indexed === RECORDS, 'all are indexed', 300_000)
    child.send('close')
    await until(() => child.exitCode !== null, 'it has ended')
    assertIdentity(reported().identity)
    assert.equal(reported().identity.dropped, 0)
    await node.request('POST', `/${dataStream}/_refresh`)
    const { body } = await node.request('GET', `/${dataStream}/_count`)
    assert.equal((body as { count: number }).count, RECORDS)
  })
}

function start(t: TestContext, script: string, operands: readonly string[]) {
  const command = ['-m', 'sh', '-c', script, 'sh', process.execPath, THIS_FILE, ...operands]
  const child: ChildProcess = spawn('unshare', command, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  t.after(() => child.kill('SIGKILL'))
  const none = { received: 0, indexed: 0, dead: 0, dropped: 0, onDisk: 0, inMemory: 0 }
  let reported: Reported = {
    identity: { ...none, deadRemoved: 0, droppedBy: {}, lagMs: 0 },
    problems: [],
  }
  child.on('message', (message) => {
    reported = message as Reported
  })
  return { child, reported: (): Reported => reported }
}
