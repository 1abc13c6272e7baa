import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_LOG, type LogSink, type Takeover } from '@sluice/core'
import { SwappableSink } from './swappable-sink.js'

/** A sink with one record, which it releases when the test says so. */
function slowSink() {
  let finish: (() => void) | null = null
  const sink: LogSink & { written: boolean } = {
    written: false,
    opened: Promise.resolve(),
    announce: () => {},
    record: () => {},
    identity: () =>
      sink.written ? { ...EMPTY_LOG, received: 1, indexed: 1 } : { ...EMPTY_LOG, received: 1, inMemory: 1 },
    close: () =>
      new Promise((resolve) => {
        finish = () => {
          sink.written = true
          resolve()
        }
      }),
  }
  return { sink, finish: () => finish!() }
}

test('closing right after a reload also waits for the replaced sink', async () => {
  const [first, second] = [slowSink(), slowSink()]
  const log = new SwappableSink(first.sink)
  const switched = log.switchTo(second.sink, 1000)
  let isClosed = false
  const closed = log.close(1000).then(() => {
    isClosed = true
  })
  second.finish()
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(isClosed, false)
  first.finish()
  await Promise.all([switched, closed])
  const { received, indexed, inMemory } = log.identity()
  assert.deepEqual([received, indexed, inMemory], [2, 2, 0])
})

test('records of a discarded sink, in its spool or delivered, stay counted', async () => {
  const spooled = (
    owner: string,
    received: number,
    indexed: number,
    takeovers: readonly Takeover[] = [],
  ): LogSink => ({
    opened: Promise.resolve(),
    announce: () => {},
    record: () => {},
    identity: () => {
      const onDisk = received - indexed
      return { ...EMPTY_LOG, received, indexed, onDisk, spools: { left: { [owner]: onDisk }, takeovers } }
    },
    close: () => Promise.resolve(),
  })
  const log = new SwappableSink(spooled('a', 5, 1))
  await log.switchTo(spooled('b', 0, 0), 1000)
  assert.deepEqual([log.identity().received, log.identity().onDisk], [5, 4])
  const candidate = spooled('c', 4, 3, [{ from: ['a'], records: 4 }])
  log.prepare(candidate)
  assert.deepEqual([log.identity().received, log.identity().indexed, log.identity().onDisk], [5, 4, 1])
  await log.discard(candidate, 0)
  await log.switchTo(spooled('d', 1, 0, [{ from: ['c', 'a'], records: 1 }]), 1000)
  assert.deepEqual([log.identity().received, log.identity().indexed, log.identity().onDisk], [5, 4, 1])
})
