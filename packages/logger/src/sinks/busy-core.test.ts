import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { LogIdentity } from '@sluice/core'
import { sampleExchange, scratchDir, until } from '../testing.js'
import { openShippingSink } from './shipping-sink.js'

// With a directory as argument, this file is a program that logs at 20,000 records per second if it gets the CPU, and
// more slowly if not. It waits if half a second's records have not been written, because then the disk is too slow.

const EVERY_MS = 5
const AT_ONCE = 100
const RECORDS = 100_000
const MAX_WAITING = 10_000
const BUSY_PROGRAMS = 3
const skip = spawnSync('taskset', ['--version']).status === 0 ? false : 'needs taskset'
const [, , dir] = process.argv
if (dir === undefined) defineTests()
else await logAndReport(dir)

async function logAndReport(spoolDir: string): Promise<void> {
  const sink = openShippingSink({
    ...{ fields: 'standard', worker: 1, version: '0.1.0', configDigest: () => 'abc' },
    spool: { dir: spoolDir, maxBytes: 1024 ** 3, whenFull: 'drop-newest' },
    output: {
      ...{ kind: 'elasticsearch', nodes: ['http://127.0.0.1:1'], auth: null, caFile: null, insecure: false },
      ...{ compress: false, dataStream: 'logs', retentionDays: null, replicas: 0, manage: true },
    },
  })
  for (let records = 0; records < RECORDS; records += AT_ONCE) {
    for (let i = 0; i < AT_ONCE; i++) sink.record(sampleExchange({ id: `r-${records + i}` }))
    await sleep(EVERY_MS)
    await until(() => sink.identity().inMemory <= MAX_WAITING, 'the log thread keeps up')
  }
  await until(() => sink.identity().inMemory === 0, 'all records are on disk')
  process.send!(sink.identity())
  process.disconnect()
  await sink.close(0)
}

function defineTests(): void {
  test('20,000 records per second are kept while other programs want the same CPU', { skip }, async (t) => {
    const core = /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]!
    const onCore = (...command: string[]): ChildProcess => {
      const child = spawn('taskset', ['--cpu-list', core, ...command], {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      })
      t.after(() => child.kill('SIGKILL'))
      return child
    }
    for (let i = 0; i < BUSY_PROGRAMS; i++) onCore('sh', '-c', 'while :; do :; done')
    const logging = onCore(process.execPath, fileURLToPath(import.meta.url), scratchDir())
    const [identity] = (await once(logging, 'message')) as [LogIdentity]
    assert.deepEqual(identity.droppedBy, {})
    assert.deepEqual([identity.received, identity.onDisk], [RECORDS, RECORDS])
  })
}
