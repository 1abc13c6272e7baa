import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { MemoryStore, MemoryTable, type StateStore, StateUnavailable } from '@sluice/core'
import type { SignatureKey } from '../../crypto/jose/key-set.js'
import { fetchForGateway } from './gateway-fetch.js'
import { type FetchedKeys, KeysUnavailable, RemoteKeySet } from './remote-key-set.js'

const NAME = 'jwt-keys:x'
const HOUR = 3_600_000
const DAY = 24 * HOUR

/** An issuer whose document is the list of its key ids, and workers that share a store. */
function gateway(store: StateStore = new MemoryStore()) {
  const it = { fetches: 0, kids: ['a'], isDown: false, body: null as string | null, failures: 0 }
  const endpoint = {
    async fetch(): Promise<Uint8Array> {
      it.fetches++
      const body = it.body ?? it.kids.join()
      await delay(5)
      if (it.isDown) throw new Error('down')
      return Buffer.from(body)
    },
    read(body: Uint8Array, fetchedAt: number): FetchedKeys {
      const version = Buffer.from(body).toString()
      if (!/^[a-z,]+$/.test(version)) throw new Error('no keys')
      const kids = new Set(version.split(','))
      const found = (kid: string | null) => [...kids].filter((one) => kid === one)
      return {
        ...{ version, fetchedAt, kids },
        candidates: (_, kid) => found(kid).map((one) => ({ kid: one }) as SignatureKey),
      }
    },
  }
  const worker = () => {
    const clock = { now: 0 }
    const options = { refreshMs: HOUR, maxStaleMs: DAY, now: () => clock.now }
    const keys = new RemoteKeySet({ ...options, onFailure: () => void it.failures++ })
    keys.use(fetchForGateway(endpoint, { store, name: NAME, waitMs: 60_000, freshMs: HOUR }))
    const has = async (kid: string) => (await keys.candidates('ES256', kid)).length === 1
    return { clock, keys, has }
  }
  return { it, store, workers: [worker(), worker(), worker()], worker }
}

const all = <T>(workers: readonly T[], work: (worker: T) => Promise<unknown>): Promise<unknown[]> =>
  Promise.all(workers.map(work))

test('one worker fetches the keys for all, those that start later included', async () => {
  const { it, workers, worker } = gateway()
  assert.deepEqual(await all(workers, (one) => one.has('a')), [true, true, true])
  assert.equal(await worker().has('a'), true)
  assert.equal(it.fetches, 1)
})

test('an unknown key is looked for once, in whichever worker the tokens are', async () => {
  const { it, workers } = gateway()
  await all(workers, (one) => one.has('a'))
  it.kids = ['b']
  assert.deepEqual(await all(workers, (one) => one.has('b')), [true, true, true])
  assert.equal(it.fetches, 2)
  assert.deepEqual(await all(workers, (one) => one.has('a')), [false, false, false], 'it was withdrawn')
})

test('guessed key ids cause one fetch per ten seconds for all workers', async () => {
  // In the store these seconds never end.
  const { it, workers } = gateway(new MemoryStore(new MemoryTable(undefined, () => 0)))
  await all(workers, (one) => one.has('a'))
  for (let i = 0; i < 10; i++) {
    for (const one of workers) one.clock.now += 10_000
    assert.deepEqual(await all(workers, (one) => one.has(`guess${i}`)), [false, false, false])
  }
  assert.equal(it.fetches, 2)
})

test('keys that another worker has fetched help only with what is in them', async () => {
  const { it, store, workers } = gateway()
  const [first, second] = workers
  await all(workers, (one) => one.has('a'))
  it.kids = ['b']
  assert.equal(await first!.has('b'), true)
  await store.delete(`${NAME}:unknown`)
  it.kids = ['c']
  assert.equal(await second!.has('c'), true, 'what the first one got is newer, and has no c')
  assert.equal(it.fetches, 3)
})

test('old keys are fetched anew by one worker', async () => {
  const { it, workers } = gateway()
  await all(workers, (one) => one.has('a'))
  it.kids = ['b']
  for (const { clock, keys } of workers) {
    clock.now = HOUR
    keys.keepFresh()
  }
  for (const { keys } of workers) while (!(await has(keys, 'b'))) await delay(1)
  assert.deepEqual([it.fetches, it.failures], [2, 0])
})

async function has(keys: RemoteKeySet, kid: string): Promise<boolean> {
  return (await keys.candidates('ES256', kid)).length === 1
}

test('keys from another worker keep their age', async () => {
  const { it, store, worker } = gateway()
  const stored = Buffer.alloc(9, 'a')
  stored.writeDoubleBE(Date.now() - HOUR + 120_000)
  await store.set(NAME, stored, HOUR)
  const { clock, keys, has } = worker()
  assert.equal(await has('a'), true)
  assert.equal(it.fetches, 0)
  clock.now = 120_001
  keys.keepFresh()
  while (it.fetches === 0) await delay(1)
})

test('foreign or unreadable entries are ignored', async () => {
  const stored = (fetchedAt: number, body: string): Buffer => {
    const bytes = Buffer.alloc(8 + body.length)
    bytes.writeDoubleBE(fetchedAt)
    bytes.write(body, 8)
    return bytes
  }
  const now = Date.now()
  for (const poison of [
    Buffer.alloc(0),
    Buffer.alloc(8),
    stored(now, '{"keys":[]}'),
    stored(now + HOUR, 'evil'),
    stored(now - HOUR, 'evil'),
    stored(Number.NaN, 'evil'),
    stored(Number.POSITIVE_INFINITY, 'evil'),
    stored(-1, 'evil'),
  ]) {
    const { it, store, worker } = gateway()
    await store.set(NAME, poison, HOUR)
    assert.equal(await worker().has('a'), true, poison.toString('latin1'))
    assert.equal(it.fetches, 1)
    assert.equal(await worker().has('a'), true)
    assert.equal(it.fetches, 1, 'the poison is gone')
  }
})

test('an issuer that is down, or answers garbage, is no reason to wait for each other', async () => {
  for (const trouble of [{ isDown: true }, { body: '<html>' }]) {
    const { it, store, workers } = gateway()
    Object.assign(it, trouble)
    await all(workers, (one) => assert.rejects(one.has('a'), KeysUnavailable))
    assert.equal(await store.get(NAME), null, 'nothing of it is stored')
    assert.equal(it.failures, 3)
    Object.assign(it, { isDown: false, body: null })
    for (const { clock } of workers) clock.now = 1000
    it.fetches = 0
    assert.deepEqual(await all(workers, (one) => one.has('a')), [true, true, true])
    assert.ok(it.fetches <= 3)
  }
})

test('a supervisor that does not answer stops no worker from fetching', async () => {
  const down = () => Promise.reject(new StateUnavailable('away'))
  const { it, workers } = gateway({ get: down, set: down, delete: down } as never as StateStore)
  assert.deepEqual(await all(workers, (one) => one.has('a')), [true, true, true])
  assert.equal(it.fetches, 3)
  it.kids = ['b']
  assert.deepEqual(await all(workers, (one) => one.has('b')), [true, true, true])
  for (let i = 0; i < 50; i++) await all(workers, (one) => one.has('guess'))
  assert.equal(it.fetches, 6, 'each keeps to its own count')
})
