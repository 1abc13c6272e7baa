import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ANSWERS_PREFIX, type HttpAnswer, MemoryStore, type StateStore, StateUnavailable } from '@sluice/core'
import { AnswerTier } from './answer-tier.js'

const ANSWER: HttpAnswer = { status: 201, headers: ['x-a', 'a\nb "c"'], body: Buffer.from([0, 10, 255]) }

function tier(store: StateStore = new MemoryStore(), space = 'a') {
  const errors: string[] = []
  return { errors, store, tier: new AnswerTier(store, space, (error) => errors.push(error)) }
}

test('what one worker has got another one finds, as it was, until it ends', async () => {
  const one = tier()
  const two = tier(one.store)
  one.tier.keep('k', ANSWER, 60_000)
  const found = await two.tier.find('k', 3_600_000)
  assert.deepEqual([found!.answer.status, found!.answer.headers], [201, ANSWER.headers])
  assert.deepEqual([...found!.answer.body], [0, 10, 255])
  assert.ok(found!.leftMs > 50_000 && found!.leftMs <= 60_000)
  assert.equal((await two.tier.find('k', 1000))!.leftMs, 1000, 'no longer than the reader may')
  assert.equal(await tier(one.store, 'b').tier.find('k', 1000), null, 'of another call')
  assert.deepEqual(await one.store.list('', 10), [`${ANSWERS_PREFIX}a:k`], 'apart from what counts callers')
})

test('what no gateway has written is nothing, and what is too large is not kept', async () => {
  const { store, tier: answers } = tier()
  const until = Date.now() + 60_000
  const texts = [
    ...['', '\n', '{}\n', 'null\n', '{"until":1e99}\n', `{"until":${until},"status":100,"headers":[]}\n`],
    ...[
      `{"until":${until},"status":200,"headers":["a"]}\n`,
      `{"until":${until},"status":200,"headers":[1,2]}\n`,
    ],
    ...[`{"until":1,"status":200,"headers":[]}\n`, `{"until":${until},"status":200,"headers":[]}`],
  ]
  for (const text of texts) {
    await store.set('a:k', Buffer.from(text), 60_000)
    assert.equal(await answers.find('k', 60_000), null, text)
  }
  await store.delete('a:k')
  answers.keep('k', { ...ANSWER, body: new Uint8Array(1024 * 1024) }, 60_000)
  assert.equal(await answers.find('k', 60_000), null)
})

test('a store that is away has nothing, and says so', async () => {
  const down = (): Promise<never> => Promise.reject(new StateUnavailable('away'))
  const { errors, tier: answers } = tier({ get: down, set: down } as never as StateStore)
  assert.equal(await answers.find('k', 1000), null)
  answers.keep('k', ANSWER, 1000)
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(errors, ['away', 'away'])
})
