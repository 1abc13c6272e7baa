import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ANSWERS_PREFIX, type HttpAnswer, MemoryStore, type StateStore, StateUnavailable } from '@sluice/core'
import { AnswerTier } from './answer-cache.js'

const ANSWER: HttpAnswer = { status: 201, headers: ['x-a', 'a\nb "c"'], body: Buffer.from([0, 10, 255]) }

const FRESH_MS = 60_000

/** Opens the tier of a worker. */
function tierOf(store: StateStore, { space = 'a', maxMs = FRESH_MS, onDown = (_: string): void => {} } = {}) {
  const report = (event: string, { error = '' }: Readonly<Record<string, unknown>> = {}): void => {
    assert.equal(event, 'store_down')
    onDown(String(error))
  }
  const state = { store: () => store, isShared: false, secret: new Uint8Array(32) }
  const options = { scope: 'gateway', space, timeoutMs: 60_000, maxMs, downEvent: 'store_down' } as const
  return new AnswerTier({ state, report }, options)
}

/** Workers that share a store. A stored value is the number of server calls so far. */
function workers(store: StateStore = new MemoryStore()) {
  const errors: string[] = []
  let calls = 0
  const worker = ({ answer = ANSWER, ttlMs = FRESH_MS, maxMs = 3_600_000, space = 'a' } = {}) => {
    const tier = tierOf(store, { space, maxMs, onDown: (error) => void errors.push(error) })
    const found = (from: HttpAnswer, leftMs: number) => {
      return { value: from, ttlMs: leftMs, bytes: 0, isNegative: false, isCallerSpecific: false }
    }
    const ask = async () => {
      calls++
      await new Promise((resolve) => setTimeout(resolve, 5))
      return { answer, found: found(answer, ttlMs) }
    }
    return tier.get('k', { ask, read: found })
  }
  return { errors, store, worker, calls: () => calls }
}

test("workers find each other's answers unchanged until they expire", async () => {
  const { store, worker, calls } = workers()
  const [first, ...others] = await Promise.all([worker(), worker(), worker()])
  assert.equal(calls(), 1)
  for (const { value, ttlMs } of [first!, ...others]) {
    assert.deepEqual([value.status, value.headers, [...value.body]], [201, ANSWER.headers, [0, 10, 255]])
    assert.ok(ttlMs > FRESH_MS - 10_000 && ttlMs <= FRESH_MS)
  }
  assert.equal((await worker({ maxMs: 1000 })).ttlMs, 1000, 'no longer than the reader may')
  assert.deepEqual(await store.list('', 10), [`${ANSWERS_PREFIX}a:k`], 'apart from what counts callers')
  await worker({ space: 'b' })
  assert.equal(calls(), 2, 'of another call')
})

test('foreign entries are ignored', async () => {
  const { store, worker, calls } = workers()
  const until = Date.now() + FRESH_MS
  const texts = [
    ...['', '\n', '{}\n', 'null\n', '{"until":1e99}\n', `{"until":${until},"status":100,"headers":[]}\n`],
    ...[
      `{"until":${until},"status":200,"headers":["a"]}\n`,
      `{"until":${until},"status":200,"headers":[1,2]}\n`,
    ],
    ...[`{"until":1,"status":200,"headers":[]}\n`, `{"until":${until},"status":200,"headers":[]}`],
  ]
  for (const [i, text] of texts.entries()) {
    await store.set(`${ANSWERS_PREFIX}a:k`, Buffer.from(text), FRESH_MS)
    assert.equal((await worker()).value.status, 201)
    assert.equal(calls(), i + 1, text)
  }
})

test('an unusable answer is requested again', async () => {
  const store = new MemoryStore()
  const { worker } = workers(store)
  await worker()
  const tier = tierOf(store)
  const found = {
    value: { own: true },
    ttlMs: FRESH_MS,
    bytes: 0,
    isNegative: false,
    isCallerSpecific: false,
  }
  const read = () => {
    throw new Error('says nothing')
  }
  const { value } = await tier.get('k', {
    ask: async () => ({ answer: ANSWER, found }),
    read,
  })
  assert.deepEqual(value, { own: true })
})

test('uncacheable and oversized answers are used only by the caller', async () => {
  for (const options of [{ ttlMs: 0 }, { answer: { ...ANSWER, body: new Uint8Array(1024 * 1024) } }]) {
    const { store, worker, calls } = workers()
    await Promise.all([worker(options), worker(options), worker(options)])
    assert.equal(calls(), 3)
    assert.deepEqual(await store.list('', 10), [`${ANSWERS_PREFIX}a:k:asked`])
  }
})

test('an unavailable store yields nothing and is reported', async () => {
  const down = (): Promise<never> => Promise.reject(new StateUnavailable('away'))
  const { errors, worker, calls } = workers({ get: down, set: down, delete: down } as never as StateStore)
  assert.equal((await worker()).value, ANSWER)
  assert.deepEqual([calls(), errors], [1, ['away', 'away']])
})
