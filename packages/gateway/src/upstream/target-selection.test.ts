import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Exchange } from '@sluice/core'
import { compiledUpstream } from '../document-keys/testing/key-tests.js'
import type { Upstream } from './upstream.js'

// Selection while some targets are unavailable. Other behavior is tested in document-keys.

const SECRET = 'sixteen characters'

function request(headers: readonly string[] = []): Exchange {
  const x = new Exchange()
  x.headers = [...headers]
  return x
}

/** Marks the targets at these positions as unavailable, and all others as available. */
function takeOut(upstream: Upstream, ...places: readonly number[]): void {
  for (const [i, target] of upstream.targets.entries()) target.isAvailable = !places.includes(i)
}

function chosen(upstream: Upstream, count: number, x = request()): string[] {
  return Array.from({ length: count }, () => upstream.choose(x, [])?.origin ?? 'none')
}

test('a single unavailable target is not selected', (t: TestContext) => {
  const upstream = compiledUpstream(t, { targets: ['http://a'] })
  takeOut(upstream, 0)
  assert.deepEqual(chosen(upstream, 1), ['none'])
  takeOut(upstream)
  assert.deepEqual(chosen(upstream, 1), ['http://a'])
})

for (const balance of ['round-robin', 'least-pending', 'power-of-two', 'hash']) {
  test(`${balance}: primaries, then failover targets by priority, then none`, (t: TestContext) => {
    const targets = [
      'http://a',
      'http://b',
      { url: 'http://c', role: 'failover', priority: 2 },
      { url: 'http://d', role: 'failover', priority: 1 },
    ]
    const hashOn = balance === 'hash' ? { hashOn: 'header:x-user' } : {}
    const upstream = compiledUpstream(t, { targets, balance, ...hashOn })
    const x = request(['x-user', 'ada'])
    for (const [away, expected] of [
      [[0], 'http://b'],
      [[0, 1], 'http://d'],
      [[0, 1, 3], 'http://c'],
      [[0, 1, 2, 3], 'none'],
    ] as const) {
      takeOut(upstream, ...away)
      assert.deepEqual(new Set(chosen(upstream, 5, x)), new Set([expected]))
    }
  })
}

test('a level keeps the part of the requests that its available share allows, and the next one gets the rest', (t: TestContext) => {
  const targets = [
    { url: 'http://a', weight: 3 },
    { url: 'http://b', weight: 1 },
    { url: 'http://c', role: 'failover' },
  ]
  const upstream = compiledUpstream(t, { targets, failoverBelow: '50%' })
  takeOut(upstream, 1)
  assert.deepEqual(new Set(chosen(upstream, 8)), new Set(['http://a']))
  takeOut(upstream, 0)
  assert.deepEqual(chosen(upstream, 4), ['http://b', 'http://c', 'http://b', 'http://c'])
  takeOut(upstream, 0, 2)
  assert.deepEqual(new Set(chosen(upstream, 4)), new Set(['http://b']))
})

/** The cookie set by a target's response, in the form of a request; null if there is none. */
function cookieOf(upstream: Upstream, x: Exchange, place: number): string | null {
  x.responseHeaders = []
  upstream.noteAnswer(x, upstream.targets[place]!, 1)
  return x.responseHeaders[1]?.split(';')[0] ?? null
}

test('a session whose target is unavailable moves to another one, and stays there', (t: TestContext) => {
  const targets = ['http://a', 'http://b', 'http://c']
  const upstream = compiledUpstream(t, { targets, sticky: { secret: SECRET } })
  const x = request(['cookie', cookieOf(upstream, request(), 1)!])
  assert.deepEqual(new Set(chosen(upstream, 6, x)), new Set(['http://b']))
  assert.equal(cookieOf(upstream, x, 1), null)
  takeOut(upstream, 1)
  assert.equal(chosen(upstream, 6, x).includes('http://b'), false)
  const moved = request(['cookie', cookieOf(upstream, x, 2)!])
  takeOut(upstream)
  assert.deepEqual(new Set(chosen(upstream, 6, moved)), new Set(['http://c']))
})

test('a cookie that was modified, or belongs to another upstream, is not a session', (t: TestContext) => {
  const targets = ['http://a', 'http://b']
  const upstream = compiledUpstream(t, { targets, sticky: { secret: SECRET } })
  const cookie = cookieOf(upstream, request(), 1)!
  const last = cookie.endsWith('A') ? 'B' : 'A'
  for (const forged of [
    cookie.slice(0, -1) + last,
    cookie.split('.')[0]!,
    'gw-target=http://b',
    'gw-target=',
  ]) {
    assert.equal(new Set(chosen(upstream, 6, request(['cookie', forged]))).size, 2, forged)
  }
})

test('a canary that is unavailable or aborted leaves its users and sessions to the primaries', (t: TestContext) => {
  const targets = ['http://a', { url: 'http://b', role: 'canary' }]
  const abort = { errors: '1%', minRequests: 1 }
  const canary = { percent: '100%', match: ['header:x-canary'], abort }
  const upstream = compiledUpstream(t, { targets, canary, sticky: { secret: SECRET } })
  const session = ['cookie', cookieOf(upstream, request(), 1)!]
  const all = [request(), request(['x-canary', '1']), request(session)]
  const sides = (): string[] => all.map((x) => chosen(upstream, 1, x)[0]!)
  assert.deepEqual(sides(), ['http://b', 'http://b', 'http://b'])
  takeOut(upstream, 1)
  assert.deepEqual(sides(), ['http://a', 'http://a', 'http://a'])
  takeOut(upstream)
  upstream.noteAnswer(request(), upstream.targets[0]!, 1)
  upstream.noteFailure(upstream.targets[1]!, 1)
  upstream.noteFailure(upstream.targets[1]!, 1)
  assert.deepEqual(sides(), ['http://a', 'http://a', 'http://a'])
})

test('a session at a primary stays there whatever the canary takes, unless the request asks for the canary', (t: TestContext) => {
  const targets = ['http://a', { url: 'http://b', role: 'canary' }]
  const canary = { percent: '100%', match: ['header:x-canary'] }
  const upstream = compiledUpstream(t, { targets, canary, sticky: { secret: SECRET } })
  const session = ['cookie', cookieOf(upstream, request(), 0)!]
  assert.deepEqual(chosen(upstream, 1, request(session)), ['http://a'])
  assert.deepEqual(chosen(upstream, 1, request([...session, 'x-canary', '1'])), ['http://b'])
})
