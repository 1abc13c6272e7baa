import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fakeDocument, GatewayProcess, isAlive } from './testing/gateway-process.js'
import { until } from './testing/until.js'

interface Answer {
  readonly result?: string
  readonly digest?: string
  readonly code?: string
  readonly reasons?: readonly { readonly worker: number; readonly reason: string }[]
  readonly changes?: readonly unknown[]
}

const answerOf = async (response: Response): Promise<Answer> => (await response.json()) as Answer

test('a deploy reaches every worker, and the same document again changes nothing', async (t) => {
  const gateway = await new GatewayProcess(t, { document: fakeDocument('first') }).started()
  assert.deepEqual((await gateway.echo()).routes, ['first'])
  const applied = await answerOf(await gateway.put(fakeDocument('second'), '?note=try'))
  assert.equal(applied.result, 'applied')
  assert.ok((applied.changes?.length ?? 0) > 0)
  assert.deepEqual(await gateway.servedDigests(), [applied.digest, applied.digest])
  assert.deepEqual((await gateway.echo()).routes, ['second'])
  const again = await answerOf(await gateway.put(fakeDocument('second')))
  assert.deepEqual([again.result, again.digest], ['unchanged', applied.digest])
  const { origin, lastRollout } = await gateway.status()
  assert.deepEqual([origin, lastRollout?.note, lastRollout?.result], ['api', 'try', 'applied'])
})

test('one worker that cannot prepare keeps the old plan on all of them', async (t) => {
  const gateway = await new GatewayProcess(t, { document: fakeDocument('first') }).started()
  const before = await gateway.status()
  const response = await gateway.put(fakeDocument('refused-by-2'))
  assert.equal(response.status, 409)
  const answer = await answerOf(response)
  assert.equal(answer.result, 'rolled-back')
  assert.deepEqual(answer.reasons, [{ worker: 2, reason: 'worker 2 was asked to refuse' }])
  assert.deepEqual(await gateway.servedDigests(), [before.digest, before.digest])
  assert.deepEqual(
    (await gateway.status()).workers.map((worker) => worker.pid),
    before.workers.map((worker) => worker.pid),
  )
  assert.equal((await answerOf(await gateway.put(fakeDocument('second')))).result, 'applied')
})

test('a worker that dies while it prepares fails the rollout and comes back with the old plan', async (t) => {
  const gateway = await new GatewayProcess(t, { document: fakeDocument('first') }).started()
  const { digest } = await gateway.status()
  const answer = await answerOf(await gateway.put(fakeDocument('crash-by-1')))
  assert.equal(answer.result, 'rolled-back')
  assert.match(answer.reasons?.[0]?.reason ?? '', /SIGABRT/)
  await until(async () => (await gateway.servedDigests()).every((served) => served === digest))
  assert.equal((await gateway.status()).workers[0]?.restarts, 1)
})

test('a worker that dies after a rollout comes back with the new plan', async (t) => {
  const gateway = await new GatewayProcess(t, { document: fakeDocument('first') }).started()
  const { digest } = await answerOf(await gateway.put(fakeDocument('second')))
  const [first] = (await gateway.status()).workers
  process.kill(first!.pid!, 'SIGKILL')
  await until(async () => {
    const [worker] = (await gateway.status()).workers
    return worker!.pid !== first!.pid && worker!.state === 'ready' && worker!.digest === digest
  })
})

test('a dry run and a stale digest change nothing', async (t) => {
  const gateway = await new GatewayProcess(t, { document: fakeDocument('first') }).started()
  const before = await gateway.status()
  const dry = await answerOf(await gateway.put(fakeDocument('second'), '?dryRun=1'))
  assert.equal(dry.result, 'valid')
  assert.ok((dry.changes?.length ?? 0) > 0)
  const etag = (await gateway.api('/v1/plan')).headers.get('etag') ?? ''
  assert.equal(etag, `"${before.digest}"`)
  const stale = await gateway.put(fakeDocument('second'), '', { 'if-match': `"${'0'.repeat(64)}"` })
  assert.equal(stale.status, 412)
  assert.deepEqual(await gateway.servedDigests(), [before.digest, before.digest])
  const current = await gateway.put(fakeDocument('second'), '', { 'if-match': etag })
  assert.equal((await answerOf(current)).result, 'applied')
})

test('an invalid document is answered with all errors', async (t) => {
  const gateway = await new GatewayProcess(t, { document: fakeDocument('first') }).started()
  const response = await gateway.put('version: 1\nlistners: []\nroutes: 5\n')
  assert.equal(response.status, 422)
  const { diagnostics } = (await response.json()) as {
    diagnostics: readonly { message: string; line: number }[]
  }
  assert.ok(diagnostics.length >= 2)
  assert.ok(diagnostics.every((diagnostic) => diagnostic.line > 0))
})

test('earlier documents are listed and can be rolled back to', async (t) => {
  const gateway = await new GatewayProcess(t, { document: fakeDocument('first') }).started()
  await gateway.put(fakeDocument('second'))
  const headers = { 'content-type': 'application/json' }
  const post = (body: string) => gateway.api('/v1/rollback', { method: 'POST', headers, body })
  assert.equal((await answerOf(await post('{}'))).result, 'applied')
  assert.deepEqual((await gateway.echo()).routes, ['first'])
  assert.equal((await answerOf(await post('{"to":"2"}'))).result, 'applied')
  assert.deepEqual((await gateway.echo()).routes, ['second'])
  assert.equal((await post('{"to":"99"}')).status, 404)
  assert.equal((await post('{"tu":"1"}')).status, 400)
  const { deploys } = (await (await gateway.api('/v1/deploys')).json()) as {
    deploys: readonly { id: string }[]
  }
  assert.deepEqual(
    deploys.map((deploy) => deploy.id),
    ['4', '3', '2', '1'],
  )
})

test('a larger head limit starts new workers, ready before the old ones exit', async (t) => {
  const gateway = await new GatewayProcess(t, { document: fakeDocument('first') }).started()
  const before = await gateway.status()
  assert.equal((await gateway.echo()).headBytes, '32768')
  const larger = fakeDocument('first').replace('0 }]', '0, limits: { headerBytes: 32kb } }]')
  const slow = fetch(`${gateway.url}/slow`)
  await until(async () => (await gateway.status()).workers.some((worker) => worker.inFlight > 0))
  assert.equal((await answerOf(await gateway.put(larger))).result, 'applied')
  assert.equal((await slow).status, 200)
  assert.equal((await gateway.echo()).headBytes, '49152')
  await until(() => before.workers.every((worker) => !isAlive(worker.pid!)))
  const { workers } = await gateway.status()
  assert.deepEqual(
    workers.map(({ id, state, restarts }) => [id, state, restarts]),
    [
      [1, 'ready', 0],
      [2, 'ready', 0],
    ],
  )
})

test('the number of workers follows the document when nothing else decides it', async (t) => {
  const gateway = await new GatewayProcess(t, {
    document: fakeDocument('first', 'workers: 1'),
    workers: null,
  }).started()
  const states = async () => (await gateway.status()).workers.map((worker) => worker.state)
  assert.deepEqual(await states(), ['ready'])
  await gateway.put(fakeDocument('first', 'workers: 3'))
  await until(async () => (await states()).join() === 'ready,ready,ready')
  const third = (await gateway.status()).workers[2]!
  process.kill(third.pid!, 'SIGKILL')
  await until(async () => (await gateway.status()).workers[2]?.restarts === 1)
  await until(async () => (await states()).join() === 'ready,ready,ready')
  await gateway.put(fakeDocument('first', 'workers: 1'))
  await until(async () => (await states()).join() === 'ready')
  await gateway.put(fakeDocument('first', 'workers: 3'))
  await until(async () => (await states()).join() === 'ready,ready,ready')
  // Its counter continues.
  assert.equal((await gateway.status()).workers[2]?.restarts, 1)
})
