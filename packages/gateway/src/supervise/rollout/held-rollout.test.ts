import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { fakeDocument, GatewayProcess } from '../testing/gateway-process.js'
import { until } from '../testing/until.js'

// A document prepared for a fleet and activated later, through the admin API of a separate gateway.

interface Answer {
  readonly status: number
  readonly result?: string
  readonly digest?: string
}

async function started(t: TestContext) {
  const gateway = await new GatewayProcess(t, { document: fakeDocument('first') }).started()
  const answerOf = async (response: Response): Promise<Answer> => ({
    ...((await response.json()) as object),
    status: response.status,
  })
  return {
    gateway,
    put: async (id: string, query: string) => answerOf(await gateway.put(fakeDocument(id), query)),
    settle: async (verb: 'activate' | 'discard', body: object) => {
      const headers = { 'content-type': 'application/json' }
      const init = { method: 'POST', headers, body: JSON.stringify(body) }
      return answerOf(await gateway.api(`/v1/config/${verb}`, init))
    },
    serves: async () => [...new Set(await gateway.servedDigests())].join(),
  }
}

test('a held document is inactive until it is activated on all workers', async (t) => {
  const { put, settle, serves } = await started(t)
  const before = await serves()
  const held = await put('second', '?hold=1m')
  assert.deepEqual([held.status, held.result], [200, 'prepared'])
  assert.equal(await serves(), before)
  assert.equal((await settle('activate', { digest: 'ab' })).status, 404)
  const activated = await settle('activate', { digest: held.digest })
  assert.deepEqual([activated.status, activated.result, activated.digest], [200, 'applied', held.digest])
  assert.equal(await serves(), held.digest)
  assert.equal((await settle('activate', { digest: held.digest })).status, 404)
})

test('discarding a held document keeps the active one, and the next document does not wait', async (t) => {
  const { put, settle, serves } = await started(t)
  const before = await serves()
  const held = await put('second', '?hold=1m')
  const next = put('third', '')
  assert.deepEqual(await settle('discard', { digest: held.digest }), {
    status: 200,
    result: 'discarded',
    digest: held.digest,
  })
  assert.equal((await next).result, 'applied')
  assert.notEqual(await serves(), before)
  assert.notEqual(await serves(), held.digest)
})

test('a held document is discarded when its time is over', async (t) => {
  const { gateway, put, settle, serves } = await started(t)
  const before = await serves()
  const held = await put('second', '?hold=1s')
  await until(async () => (await gateway.status()).lastRollout?.result === 'rolled-back')
  assert.equal((await settle('activate', { digest: held.digest })).status, 404)
  assert.equal(await serves(), before)
})

test('invalid, unchanged and dry-run documents are not held', async (t) => {
  const { gateway, put, settle } = await started(t)
  assert.equal((await gateway.put('version: 2', '?hold=1m')).status, 422)
  assert.equal((await put('first', '?hold=1m')).result, 'unchanged')
  assert.equal((await put('second', '?hold=1m&dryRun=1')).result, 'valid')
  for (const hold of ['0s', '6m', 'long', ''])
    assert.equal((await put('second', `?hold=${hold}`)).status, 400)
  for (const body of [{}, { digest: 1 }, { digest: 'a', more: 1 }, []])
    assert.equal((await settle('activate', body)).status, 400)
})
