import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { LogSink } from '@sluice/core'
import { assertIdentity, sampleExchange, scratchDir, until } from '../testing.js'
import { openShippingSink } from './shipping-sink.js'

// With a directory as argument, this file is a program that is killed with records that its log thread has not read.

const ON_DISK = 100
const IN_HAND = 40
const UNDER_WAY = 3
const [, , dir] = process.argv
if (dir === undefined) defineTests()
else await holdRecords(sinkTo(dir, 600_000))

async function holdRecords(sink: LogSink): Promise<void> {
  // The thread reads these when it starts, and would read the others ten minutes later.
  record(sink, ON_DISK)
  await until(() => sink.identity().onDisk === ON_DISK, 'the first are on disk')
  record(sink, IN_HAND)
  sink.announce(UNDER_WAY)
  process.kill(process.pid, 'SIGKILL')
}

function record(sink: LogSink, count: number): void {
  for (let i = 0; i < count; i++) sink.record(sampleExchange({ id: `r-${i}` }))
}

/** Output to a node that does not respond. */
function sinkTo(spoolDir: string, flushMs?: number): LogSink {
  return openShippingSink({
    ...{ fields: 'standard', worker: 1, version: '0.1.0', configDigest: () => 'abc' },
    ...(flushMs === undefined ? {} : { flushMs }),
    spool: { dir: spoolDir, maxBytes: 16 * 1024 ** 2, whenFull: 'drop-oldest' },
    output: {
      ...{ kind: 'elasticsearch', nodes: ['http://127.0.0.1:1'], auth: null, caFile: null, insecure: false },
      ...{ compress: false, dataStream: 'logs', retentionDays: null, replicas: 0, manage: true },
    },
  })
}

function defineTests(): void {
  test('records that a killed process had not handed over or only announced are counted, each of them', async (t) => {
    const spoolDir = scratchDir()
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url), spoolDir], { stdio: 'inherit' })
    t.after(() => child.kill('SIGKILL'))
    await once(child, 'close')
    const adopter = sinkTo(spoolDir)
    t.after(() => adopter.close(0))
    // The records are taken over first, and those that are not on disk are then counted as lost.
    await until(() => adopter.identity().dropped > 0, 'what it has left is taken over')
    const { onDisk, droppedBy } = adopter.identity()
    assert.deepEqual({ onDisk, ...droppedBy }, { onDisk: ON_DISK, process_lost: IN_HAND + UNDER_WAY })
    assertIdentity(adopter.identity())
  })
}
