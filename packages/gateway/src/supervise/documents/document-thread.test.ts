import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { unpackBundle } from '@sluice/config'
import { fakeDocument, GatewayProcess } from '../testing/gateway-process.js'
import { until } from '../testing/until.js'
import { DocumentThread, startDocumentThread } from './document-thread.js'

const ENTRY = new URL('../testing/fake-documents.js', import.meta.url)
const BOUNDS = { deadlineMs: 600_000, memoryMb: 256, idleMs: 60_000 }
/** A document with invalid routes only. Twice as many take 5 s, and on a busy machine up to the limit of a minute. */
const MISTAKES = mistakes(30_000)

function mistakes(count: number): string {
  return `version: 1\nroutes:\n${'- a: 1\n'.repeat(count)}`
}

function thread(t: TestContext, bounds: Partial<typeof BOUNDS> = {}): DocumentThread {
  const started = new DocumentThread(ENTRY, { env: { NAME: 'set' }, overrides: {} }, { ...BOUNDS, ...bounds })
  t.after(() => started.close())
  return started
}

test('documents are checked off the event loop with the settings of the gateway', async (t) => {
  const checked = thread(t, { idleMs: 1 })
  for (const body of ['one', 'two']) {
    const text = fakeDocument(body).replace('body: ok', 'body: "${env:NAME}"')
    const result = await checked.load({ name: 'gateway.yaml', text }, null)
    assert.ok(result.ok, JSON.stringify(result))
    const { plan, values } = unpackBundle(result.bundle)
    assert.deepEqual([plan.routes[0]?.id, Object.values(values)], [body, ['set']])
  }
  const broken = await checked.load({ name: 'gateway.yaml', text: 'version: 1\nroutes: 5\n' }, null)
  assert.match(JSON.stringify(broken), /"ok":false.*'routes' must be/)
})

test('a document whose check takes too long is refused, and the next is checked', async (t) => {
  const slow = await thread(t, { deadlineMs: 20 }).load({ name: 'gateway.yaml', text: MISTAKES }, null)
  assert.match(JSON.stringify(slow), /took longer than 0.02 s/)
})

test('a document whose check takes too much memory is refused, and the next is checked', async (t) => {
  const checked = thread(t, { memoryMb: 48 })
  const large = await checked.load({ name: 'gateway.yaml', text: mistakes(60_000) }, null)
  assert.match(JSON.stringify(large), /more than 48 MB of memory/)
  assert.equal((await checked.load({ name: 'gateway.yaml', text: fakeDocument('small') }, null)).ok, true)
})

test('a document with 30,000 errors does not affect health, metrics and workers, and the first errors are shown', async (t) => {
  const gateway = await new GatewayProcess(t, { document: fakeDocument('first') }).started()
  let isOver = false
  const deploy = gateway.put(MISTAKES).finally(() => {
    isOver = true
  })
  const isUnderWay = async (): Promise<boolean> =>
    / *gw_rollout_queue_length 1\n/.test(await (await gateway.api('/metrics')).text())
  await until(isUnderWay)
  for (let i = 0; i < 5; i++) assert.equal((await gateway.api('/healthz')).status, 200)
  assert.equal(isOver, false)
  const answer = await deploy
  assert.equal(answer.status, 422)
  const { diagnostics } = (await answer.json()) as { diagnostics: readonly { message: string }[] }
  assert.equal(diagnostics.length, 101)
  assert.match(diagnostics.at(-1)?.message ?? '', /there are more errors/)
  assert.deepEqual((await gateway.echo()).routes, ['first'])
  assert.deepEqual(gateway.log('worker.silent'), [])
})

test('aliases that expand to a million values are refused before expansion', async (t) => {
  const lists = Array.from({ length: 8 }, (_, i) => `x${i + 1}: &x${i + 1} [${`*x${i},`.repeat(10)}]`)
  const text = ['version: 1', `x0: &x0 [${'a,'.repeat(10)}]`, ...lists].join('\n')
  const result = await thread(t, { memoryMb: 48 }).load({ name: 'gateway.yaml', text }, null)
  assert.match(JSON.stringify(result), /aliases expand to more than \d{5} values/)
})

test('the policies of a document are found in its text, in any notation', async (t) => {
  const checked = startDocumentThread({})
  t.after(() => checked.close())
  const textOf = (use: string): string => `version: 1
listeners: [{ address: ":8080" }]
routes: [{ id: a, match: { path: /* }, policies: [{ use: ${use} }], respond: { status: 200 } }]
`
  const load = (use: string) => checked.load({ name: 'gateway.yaml', text: textOf(use) }, null)
  assert.ok((await load('request-id')).ok)
  assert.ok((await load('"security\\x2dheaders"')).ok)
  assert.match(JSON.stringify(await load('securty-headers')), /security-headers/)
})
