import assert from 'node:assert/strict'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { gwInProcess } from '../testing/in-process.js'
import { fileWith, type Outcome, type RunningGateway, startGateway, statusOf, until } from '../testing.js'

// Health checks and drains, with real workers: one supervisor checks for all of them.

interface Origin {
  readonly url: string
  isHealthy: boolean
  /** Checks so far. */
  checks: number
}

async function originNamed(t: TestContext, name: string): Promise<Origin> {
  const server = http.createServer((req, res) => {
    if (req.url === '/healthz') origin.checks++
    res.writeHead(req.url === '/healthz' && !origin.isHealthy ? 500 : 200).end(name)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const origin = { url: `http://127.0.0.1:${port}`, isHealthy: true, checks: 0 }
  return origin
}

function documentOf(urls: readonly string[], more = ''): string {
  const health = '{ path: /healthz, interval: 100ms, unhealthyAfter: 2, healthyAfter: 2 }'
  return `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0" }
workers: 2
upstreams: { up: { targets: ${JSON.stringify(urls)}, health: ${health} } }
routes: [{ id: all, upstream: up }${more}]
log: { sink: none }
`
}

interface Bench {
  readonly gateway: RunningGateway
  readonly a: Origin
  readonly b: Origin
  readonly run: (...args: string[]) => Promise<Outcome>
  /** The line of a target in `gw upstream health`. */
  readonly line: (origin: Origin) => Promise<string>
  /** Who answers many requests, over both workers. */
  readonly answers: () => Promise<ReadonlySet<string>>
}

async function bench(t: TestContext): Promise<Bench> {
  const [a, b] = [await originNamed(t, 'a'), await originNamed(t, 'b')]
  const gateway = await startGateway(t, documentOf([a.url, b.url]))
  const run = (...args: string[]) => gwInProcess(args, { env: { GW_SERVER: gateway.admin, GW_TOKEN: '' } })
  const line = async ({ url }: Origin) => {
    const { stdout } = await run('upstream', 'health', 'up')
    return stdout.split('\n').find((text) => text.includes(url)) ?? ''
  }
  const answers = async () => {
    const texts = Array.from({ length: 24 }, async () => {
      const response = await fetch(gateway.url, { headers: { connection: 'close' } })
      return response.status === 200 ? response.text() : String(response.headers.get('x-gw-error'))
    })
    return new Set(await Promise.all(texts))
  }
  return { gateway, a, b, run, line, answers }
}

test('what one check finds reaches all workers, also one that is started later, and survives a reload', async (t) => {
  const { gateway, a, b, run, line, answers } = await bench(t)
  // On a busy machine the first checks may take too long.
  await until(async () => isDeepStrictEqual(await answers(), new Set(['a', 'b'])), gateway.logText)
  a.isHealthy = false
  await until(async () => (await line(a)).includes('2 unhealthy'), gateway.logText)
  assert.match(await line(a), /no +unhealthy +2 unhealthy +unexpected status 500/)
  assert.deepEqual(await answers(), new Set(['b']))

  const [worker] = (await statusOf(gateway.admin)).workers
  process.kill(worker!.pid!, 'SIGKILL')
  const isReplaced = async () =>
    (await statusOf(gateway.admin)).workers.every(
      ({ pid, state }) => pid !== null && pid !== worker!.pid && state === 'ready',
    )
  await until(isReplaced, gateway.logText)
  await until(async () => (await line(a)).includes('2 unhealthy'), gateway.logText)
  assert.deepEqual(await answers(), new Set(['b']))

  const added = ', { id: new, match: { path: /new }, respond: { status: 204 } }'
  const deployed = await run('deploy', '-c', fileWith(t, documentOf([a.url, b.url], added)))
  assert.equal(deployed.code, 0, deployed.stderr)
  assert.match(await line(a), /unhealthy +2 unhealthy/)
  // Another description of the upstream, the same target.
  const c = await originNamed(t, 'c')
  assert.equal((await run('deploy', '-c', fileWith(t, documentOf([a.url, b.url, c.url])))).code, 0)
  assert.match(await line(a), / unhealthy /)
  assert.deepEqual(await answers(), new Set(['b', 'c']))

  a.isHealthy = true
  await until(async () => (await answers()).has('a'), gateway.logText)
  const metrics = await (await fetch(`${gateway.admin}/metrics`)).text()
  assert.match(metrics, new RegExp(`gw_upstream_target_healthy\\{upstream="up",target="${a.url}"\\} 1`))
  assert.match(metrics, /gw_upstream_health_checks_total\{.*result="failure"\} \d/)
})

test('a drained target gets nothing from any worker until it is undrained, also after a reload', async (t) => {
  const { gateway, a, b, run, line, answers } = await bench(t)
  const drained = await run('upstream', 'drain', 'up', a.url)
  assert.deepEqual([drained.code, drained.stdout.includes(`drained: ${a.url}`)], [0, true])
  // The command ends when the workers know it.
  assert.deepEqual(await answers(), new Set(['b']))
  assert.match(await line(a), /yes +\w+ +2 drained/)
  assert.match((await run('upstream', 'list')).stdout, new RegExp(`${a.url} +primary +1 +drained `))
  const added = ', { id: new, match: { path: /new }, respond: { status: 204 } }'
  assert.equal((await run('deploy', '-c', fileWith(t, documentOf([a.url, b.url], added)))).code, 0)
  assert.deepEqual(await answers(), new Set(['b']))

  assert.equal((await run('upstream', 'drain', 'up')).code, 64)
  assert.equal((await run('upstream', 'drain', 'up', '--yes')).code, 0)
  assert.deepEqual(await answers(), new Set(['GW_UPSTREAM_UNAVAILABLE']))
  assert.equal((await run('upstream', 'undrain', 'up')).code, 0)
  assert.deepEqual(await answers(), new Set(['a', 'b']))

  const unknown = await run('upstream', 'drain', 'up', 'http://nobody:1')
  assert.equal(unknown.code, 1)
  assert.ok(
    unknown.stderr.includes(`upstream 'up' has no such target; its targets are ${a.url}, ${b.url}`),
    unknown.stderr,
  )
  assert.match(
    (await run('upstream', 'drain', 'no', a.url)).stderr,
    /no upstream 'no' in the active plan; gw upstream list/,
  )
  assert.equal((await run('upstream', 'health', 'nobody')).code, 1)
  const { upstreams } = JSON.parse((await run('upstream', 'health', '-o', 'json')).stdout)
  assert.deepEqual(upstreams[0].targets[0].workers, { available: 2 })
  assert.match(gateway.logText(), /target\.drained/)
})
