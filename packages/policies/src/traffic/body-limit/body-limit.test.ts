import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Exchange, Outcome } from '@sluice/core'
import { exchange, schemaMistakes, testEnv } from '../../testing.js'
import { bodyLimit } from './policy.js'

type Config = Parameters<typeof bodyLimit.compile>[0]

function run(config: Config, x: Exchange): Outcome {
  const step = bodyLimit.compile(config, testEnv())
  assert.ok(step !== null && !(step instanceof Promise))
  const outcome = step.onRequest?.(x) ?? null
  assert.ok(!(outcome instanceof Promise))
  return outcome
}

test('a body announced as larger is refused at once, one at the limit passes', () => {
  const refused = run({ maxBytes: '1kb' }, exchange({ contentLength: 1025 }))
  assert.equal(refused?.status, 413)
  assert.deepEqual(refused?.headers, ['x-gw-error', 'GW_BODY_TOO_LARGE'])
  assert.match(refused?.problem?.detail ?? '', /at most 1kb/)
  assert.equal(run({ maxBytes: '1kb' }, exchange({ contentLength: 1024 })), null)
  assert.equal(run({ maxBytes: '0b' }, exchange({ contentLength: 0 })), null)
})

test('a body of unknown length passes here and is bounded while it streams', () => {
  const x = exchange({ contentLength: -1, bodyLimit: 4096 })
  assert.equal(run({ maxBytes: '1kb', minBytes: '10b' }, x), null)
  assert.equal(x.bodyLimit, 1024)
})

test('the limit of the listener is raised only when asked', () => {
  const kept = exchange({ bodyLimit: 512 })
  run({ maxBytes: '1kb' }, kept)
  assert.equal(kept.bodyLimit, 512)
  const raised = exchange({ bodyLimit: 512 })
  run({ maxBytes: '1kb', raise: true }, raised)
  assert.equal(raised.bodyLimit, 1024)
  const lowered = exchange({ bodyLimit: 4096 })
  run({ maxBytes: '1kb', raise: true }, lowered)
  assert.equal(lowered.bodyLimit, 1024)
})

test('a body announced as smaller than min is refused, no body counts as empty', () => {
  for (const contentLength of [0, 9]) {
    const refused = run({ maxBytes: '1kb', minBytes: '10b' }, exchange({ contentLength }))
    assert.equal(refused?.status, 400)
    assert.equal(refused?.problem?.code, 'GW_BODY_TOO_SMALL')
  }
  assert.equal(run({ maxBytes: '1kb', minBytes: '10b' }, exchange({ contentLength: 10 })), null)
})

test('a min above max and an invalid size are rejected', () => {
  assert.throws(
    () => bodyLimit.compile({ maxBytes: '1kb', minBytes: '2kb' }, testEnv()),
    /'minBytes' 2kb is greater than 'maxBytes' 1kb/,
  )
  assert.throws(() => bodyLimit.compile({ maxBytes: 'much' }, testEnv()), /'much' is not a size/)
})

test('the schema accepts what is documented and rejects everything else', () => {
  const defaulted = { maxBytes: '1mb' }
  assert.deepEqual(schemaMistakes(bodyLimit, defaulted), [])
  assert.deepEqual(defaulted, { maxBytes: '1mb', raise: false })
  for (const config of [
    {},
    { maxBytes: 5 },
    { maxBytes: '1 mb' },
    { maxBytes: '1mb', raise: 'yes' },
    { maxBytes: '1mb', most: '2mb' },
  ]) {
    assert.notDeepEqual(schemaMistakes(bodyLimit, config), [], JSON.stringify(config))
  }
})
