import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { type Stalled, StalledStreams } from './stalled-streams.js'

const PERIOD_MS = 4000

/** A stream that counts its retries, and then runs an action. */
function stream(tried: string[], name: string, then: () => void = () => {}): Stalled {
  return {
    stalledNext: null,
    stalledPrevious: null,
    isStalled: false,
    retryStalled: () => {
      tried.push(name)
      then()
    },
  }
}

test('streams are retried until they are removed, from any position', (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.after(() => mock.timers.reset())
  const tried: string[] = []
  const streams = new StalledStreams()
  const [a, b, c] = ['a', 'b', 'c'].map((name) => stream(tried, name)) as [Stalled, Stalled, Stalled]
  for (const each of [a, b, c, b]) streams.add(each)
  const round = (): string => {
    mock.timers.tick(PERIOD_MS)
    return tried.splice(0).toSorted().join('')
  }
  assert.equal(round(), 'abc')
  streams.remove(b)
  streams.remove(b)
  assert.equal(round(), 'ac')
  streams.remove(c)
  assert.equal(round(), 'a')
  streams.remove(a)
  streams.add(c)
  streams.add(b)
  assert.equal(round(), 'bc')
})

test('retrying one stream may end others', (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.after(() => mock.timers.reset())
  const tried: string[] = []
  const streams = new StalledStreams()
  const all: Stalled[] = []
  const endAll = (): void => {
    for (const each of all) streams.remove(each)
  }
  for (const name of ['a', 'b', 'c']) {
    const each = stream(tried, name, endAll)
    all.push(each)
    streams.add(each)
  }
  mock.timers.tick(PERIOD_MS)
  assert.equal(tried.length, 1)
})
