import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { SignatureKey } from '../../crypto/jose/key-set.js'
import { type FetchedKeys, KeysUnavailable, RemoteKeySet } from './remote-key-set.js'

const MINUTE = 60_000

/** An issuer with responses and a clock that the test controls. */
function issuer() {
  const it = { calls: 0, now: 0, kids: ['a'], isDown: false, reasons: [] as string[] }
  const keys = new RemoteKeySet({
    refreshMs: 10 * MINUTE,
    maxStaleMs: 60 * MINUTE,
    onFailure: (reason) => void it.reasons.push(reason),
    now: () => it.now,
  })
  const stop = keys.use(async (): Promise<FetchedKeys> => {
    it.calls++
    await turn()
    if (it.isDown) throw new Error('down')
    const kids = new Set(it.kids)
    const found = (kid: string | null): SignatureKey[] =>
      [...kids].filter((one) => kid === null || one === kid).map((one) => ({ kid: one }) as SignatureKey)
    return { version: it.kids.join(), fetchedAt: Date.now(), kids, candidates: (_, kid) => found(kid) }
  })
  const find = async (kid: string | null): Promise<(string | null)[]> =>
    (await keys.candidates('ES256', kid)).map((key) => key.kid)
  return { it, keys, find, stop }
}

test('1,000 tokens that come before the keys wait for one call', async () => {
  const { it, find } = issuer()
  const found = await Promise.all(Array.from({ length: 1000 }, () => find('a')))
  assert.equal(it.calls, 1)
  assert.ok(found.every((kids) => kids[0] === 'a'))
})

test('keys that are known are answered at once, and fetched anew in the background when they are old', async () => {
  const { it, keys, find } = issuer()
  await find('a')
  assert.ok(!(keys.candidates('ES256', 'a') instanceof Promise))
  const { generation } = keys
  it.now = 9 * MINUTE
  keys.keepFresh()
  assert.equal(it.calls, 1)
  it.now = 10 * MINUTE
  keys.keepFresh()
  keys.keepFresh()
  assert.ok(!(keys.candidates('ES256', 'a') instanceof Promise))
  await turn()
  await turn()
  assert.deepEqual([it.calls, keys.generation], [2, generation], 'they are the same keys')
})

test('an unknown kid causes one fetch, and guesses none for 10 s', async () => {
  const { it, keys, find } = issuer()
  await find('a')
  const { generation } = keys
  it.kids = ['b']
  assert.deepEqual(await Promise.all([find('b'), find('b'), find('b')]), [['b'], ['b'], ['b']])
  assert.equal(it.calls, 2)
  assert.notEqual(keys.generation, generation)
  for (let i = 0; i < 100; i++) assert.deepEqual(await find(`guess ${i}`), [])
  assert.equal(it.calls, 2)
  it.now += 10_000
  await find('guess')
  assert.equal(it.calls, 3)
  assert.deepEqual(await find('a'), [], 'what the issuer has withdrawn')
})

test('keys outlive an outage of their issuer, for as long as they may', async () => {
  const { it, keys, find } = issuer()
  await find('a')
  it.isDown = true
  for (let minute = 1; minute < 60; minute++) {
    it.now = minute * MINUTE
    keys.keepFresh()
    assert.deepEqual(await find('a'), ['a'])
    await turn()
  }
  it.now = 60 * MINUTE
  await assert.rejects(find('a'), KeysUnavailable)
  const { generation } = keys
  keys.keepFresh()
  keys.keepFresh()
  assert.equal(keys.generation, generation + 1, 'tokens that they have verified are verified again')
  it.isDown = false
  it.now += 30_000
  assert.deepEqual(await find('a'), ['a'])
})

test('an issuer that is down from the beginning is not asked by every token', async () => {
  const { it, find } = issuer()
  it.isDown = true
  for (let i = 0; i < 100; i++) await assert.rejects(find('a'), { name: 'KeysUnavailable', message: 'down' })
  assert.deepEqual([it.calls, it.reasons], [1, ['down']])
  it.now += 1000
  await assert.rejects(find('a'), KeysUnavailable)
  it.now += 1000
  await assert.rejects(find('a'), KeysUnavailable)
  assert.equal(it.calls, 2, 'each failure makes it wait for longer')
})

test('without a policy that fetches there are no keys', async () => {
  const { find, stop } = issuer()
  stop()
  await assert.rejects(find('a'), KeysUnavailable)
})
