import assert from 'node:assert/strict'
import http from 'node:http'
import { test } from 'node:test'
import { closedPort, documentFor, origin, startGateway, startLoad, statusOf, until } from './testing.js'

// What a running gateway may cost its clients while it is changed and while it loses workers.

/** Each variant serves five times. */
const DEPLOYS = 25
const DEPLOY_EVERY_MS = 200

async function deploy(admin: string, text: string): Promise<void> {
  const answer = await fetch(`${admin}/v1/config`, {
    method: 'PUT',
    headers: { 'content-type': 'application/yaml' },
    body: text,
  })
  assert.equal(answer.status, 200, await answer.text())
}

test('frequent deployments fail no request on persistent or new connections', async (t) => {
  // So slow that every deploy meets calls under way, and the load leaves the machine to them.
  const target = await origin(t, (_, res) => setTimeout(() => res.end('ok'), 20))
  const base = withTwoWorkers(target)
  const port = await closedPort()
  const variants = [
    base,
    base.replace('id: all', 'id: renamed'),
    // The upstream that is busy goes, another takes its place.
    base.replace('  up:', '  other:').replace('upstream: up', 'upstream: other'),
    base.replace('"127.0.0.1:0", health', `"127.0.0.1:0" }, { address: "127.0.0.1:${port}", health`),
    base.replace(
      'upstream: up',
      'upstream: up\n    policies: [{ use: body-limit, with: { maxBytes: 1kb } }]',
    ),
  ]
  const gateway = await startGateway(t, base)
  const load = startLoad(`${gateway.url}/a`, 16)
  for (let i = 1; i <= DEPLOYS; i++) {
    const next = performance.now() + DEPLOY_EVERY_MS
    await deploy(gateway.admin, variants[i % variants.length]!)
    await new Promise((resolve) => setTimeout(resolve, next - performance.now()))
  }
  await load.stop()
  assert.deepEqual(load.failures(), [])
  t.diagnostic(`${load.sent()} requests, ${DEPLOYS} deploys, 0 failed`)
})

test('a killed worker costs exactly its requests in flight', async (t) => {
  const held: http.ServerResponse[] = []
  const target = await origin(t, (req, res) => (req.url === '/held' ? held.push(res) : res.end('ok')))
  const gateway = await startGateway(t, withTwoWorkers(target))
  const clients = 40
  const answers = Array.from({ length: clients }, () => outcomeOf(`${gateway.url}/held`))
  await until(() => held.length === clients)
  await until(async () => inFlight(await statusOf(gateway.admin)) === clients)
  const victim = (await statusOf(gateway.admin)).workers[0]!
  const killedMono = performance.now()
  process.kill(victim.pid!, 'SIGKILL')
  await until(async () => {
    const { workers } = await statusOf(gateway.admin)
    return workers.every((worker) => worker.state === 'ready' && worker.pid !== victim.pid)
  })
  t.diagnostic(`replaced after ${Math.round(performance.now() - killedMono)} ms`)
  for (const response of held) response.end('late')
  const failed = (await Promise.all(answers)).filter((answer) => answer !== '200')
  assert.equal(failed.length, victim.inFlight, failed.join(', '))
  assert.equal(await outcomeOf(`${gateway.url}/after`), '200')
})

test('workers killed in turn under load are replaced, and clients continue', async (t) => {
  const target = await origin(t, (_, res) => setTimeout(() => res.end('ok'), 5))
  const gateway = await startGateway(t, withTwoWorkers(target))
  const clients = 16
  const load = startLoad(`${gateway.url}/a`, clients)
  for (const { pid } of (await statusOf(gateway.admin)).workers) {
    const before = load.failures().length
    process.kill(pid!, 'SIGKILL')
    await until(async () => {
      const { workers } = await statusOf(gateway.admin)
      return workers.every((worker) => worker.state === 'ready' && worker.pid !== pid)
    })
    const sent = load.sent()
    await until(() => load.sent() > sent + 200)
    // A dying process lets go of its sockets one after the other: who comes back at once may meet its listener again.
    assert.ok(load.failures().length - before <= clients * 2, load.failures().join(', '))
  }
  await load.stop()
})

function withTwoWorkers(target: string): string {
  return documentFor(target).replace('workers: 1', 'workers: 2')
}

function inFlight(status: Awaited<ReturnType<typeof statusOf>>): number {
  return status.workers.reduce((sum, worker) => sum + worker.inFlight, 0)
}

/** The status, or what went wrong, of one call on a connection of its own. */
function outcomeOf(url: string): Promise<string> {
  return new Promise((resolve) => {
    const request = http.get(url, { agent: false }, (res) => {
      res.resume()
      res.on('end', () => resolve(String(res.statusCode)))
      res.on('error', (error) => resolve(error.message))
    })
    request.on('error', (error) => resolve(error.message))
  })
}
