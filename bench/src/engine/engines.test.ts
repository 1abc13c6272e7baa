import assert from 'node:assert/strict'
import type http from 'node:http'
import { type TestContext, test } from 'node:test'
import { closedPort, scratch, origin as startOrigin, until } from '@sluice/cli/testing'
import type { LoadOptions, LoadResult } from '../model/engine.js'
import { processTree } from '../process/process-use.js'
import { commandOf } from '../testing/processes.js'
import { bodyOf } from './call-body.js'
import { engineOf, engines, installedVersion } from './engines.js'

const CONNECTIONS = 8
/** Response time in milliseconds. Without it, closed loops would use both cores. */
const ANSWER_MS = 10
/**
 * wrk forgets what was under way at the end once for the connections and once for those it closed meanwhile; after it
 * comes the call that looks for redirections.
 */
const MOST_UNCOUNTED = 2 * CONNECTIONS + 1
const POST = {
  method: 'POST',
  path: '/orders?a=%221%22&b=c',
  headers: { 'content-type': 'application/json', 'x-note': 'a "b" \\ c' },
  body: { kind: 'json', bytes: 500 },
} as const
const GET = { method: 'GET', path: '/', headers: {}, body: null } as const

test('autocannon keeps a bounded sample of its requests, with their sizes', async (t) => {
  const server = await startServer(t, (request, response) =>
    response.writeHead(request.url === '/' ? 200 : 503).end('hello'),
  )
  const options = { ...optionsFor(t, server.origin), sampleCount: 20 }
  const { samples } = await engineOf('autocannon').run(options)
  assert.equal(samples!.length, 20)
  for (const { outcome, elapsedMs, latencyMs, bytes, sentBytes, atMs } of samples!) {
    assert.equal(outcome, 200)
    assert.ok(latencyMs > 0 && latencyMs <= elapsedMs, `${latencyMs} of ${elapsedMs} ms`)
    assert.ok(bytes > 5 && sentBytes > 10)
    assert.ok(Math.abs(atMs - Date.now()) < 60_000)
  }
  const refused = { ...options, call: { ...GET, path: '/other' } }
  assert.ok((await engineOf('autocannon').run(refused)).samples!.every(({ outcome }) => outcome === 503))
})

for (const engine of engines) {
  const skip = engine.version() === null && `${engine.name} is not installed`

  test(`${engine.name} sends the call as it is, and counts what the server saw`, { skip }, async (t) => {
    const server = await startServer(t, (request, response) => {
      const wrong = request.method !== 'POST' || request.headers['x-note'] !== POST.headers['x-note']
      response.statusCode = wrong || request.url !== POST.path ? 500 : 200
      let body = ''
      request.on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () => {
        if (body !== bodyOf(POST.body).toString()) response.statusCode = 501
        response.end('received')
      })
    })
    const result = await engine.run(optionsFor(t, server.origin, { call: POST }))
    assert.deepEqual(result.errors, { connect: 0, timeout: 0, reset: 0, status: 0, other: 0 })
    assert.ok(result.requests > 0 && result.requests <= server.requests(), JSON.stringify(result))
    assert.ok(server.requests() - result.requests <= MOST_UNCOUNTED, `${server.requests()} were seen`)
    // CPU time comes in ticks of 10 ms: a generator that gets no CPU may have used none.
    assert.ok(result.busyShare > 0 || result.requests < 1000, JSON.stringify(result))
    assert.ok(result.seconds > 0.9 && result.busyShare <= 1.1, JSON.stringify(result))
    assertSpectrum(result, false)
  })

  for (const status of [302, 503]) {
    test(`${engine.name} counts answers with status ${status} as errors without latency`, {
      skip,
    }, async (t) => {
      const server = await startServer(t, (_, response) =>
        response.writeHead(status, { location: '/other' }).end('no'),
      )
      const { requests, errors, latency } = await engine.run(optionsFor(t, server.origin))
      assert.equal(requests, 0)
      assert.equal(latency, null)
      assert.ok(errors.status > 0 && errors.status <= server.requests())
      assert.ok(server.requests() - errors.status <= MOST_UNCOUNTED, `${server.requests()} were seen`)
    })
  }

  test(`${engine.name} sends a body that was given byte by byte`, { skip }, async (t) => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
    const server = await startServer(t, (request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => response.writeHead(Buffer.concat(parts).equals(bytes) ? 200 : 501).end())
    })
    const body = { kind: 'given', bytes: bytes.length, base64: bytes.toString('base64') } as const
    const call = { method: 'PUT', path: '/', headers: {}, body } as const
    const { requests, errors } = await engine.run(optionsFor(t, server.origin, { call }))
    assert.ok(requests > 0)
    assert.equal(errors.status, 0)
  })

  test(`${engine.name} counts connections that are refused in a class of their own`, { skip }, async (t) => {
    const { requests, errors, latency } = await engine.run(
      optionsFor(t, `http://127.0.0.1:${await closedPort()}`),
    )
    assert.equal(requests, 0)
    assert.equal(latency, null)
    assert.ok(errors.connect > 0)
    assert.equal(errors.status + errors.reset + errors.other, 0)
  })

  test(`${engine.name} holds a rate, or says that it cannot`, { skip }, async (t) => {
    const server = await startServer(t, (_, response) => response.end('hello'))
    const loading = engine.run(optionsFor(t, server.origin, { perSecond: 200 }))
    if (!engine.hasOpenLoop) {
      await assert.rejects(loading, /cannot hold a rate/)
      return
    }
    const result = await loading
    assert.ok(result.requests > 0 && result.requests < 220, JSON.stringify(result))
    assertSpectrum(result, true)
  })
}

test('a warm-up is not counted', async (t) => {
  for (const name of ['autocannon', 'wrk'] as const) {
    if (engineOf(name).version() === null) continue
    const server = await startServer(t, (_, response) => response.end('hello'))
    const result = await engineOf(name).run(optionsFor(t, server.origin, { warmUpSeconds: 1 }))
    assert.ok(result.requests > 0 && result.requests + 2 * CONNECTIONS < server.requests(), name)
    assert.ok(result.seconds < 1.9, name)
  }
})

test('autocannon says what was answered before the measured time, over the same connections', async (t) => {
  for (const perSecond of [null, 200]) {
    const server = await startServer(t, (_, response) => response.end('hello'))
    const order = optionsFor(t, server.origin, { perSecond, warmUpSeconds: 0.5 })
    const { requests, seconds, leadIn } = await engineOf('autocannon').run(order)
    assert.equal(leadIn!.seconds, 0.5)
    assert.equal(seconds, 1)
    assert.ok(leadIn!.requests > 0)
    // What is answered while the generator notices that its time is over counts for neither; a busy machine is late.
    const unseen = server.requests() - requests - leadIn!.requests
    const share = unseen / server.requests()
    assert.ok(unseen >= 0 && share < 0.2, `${unseen} of ${server.requests()} are missing`)
  }
})

test('planned requests that had to wait for a server that stopped count from when they were due', async (t) => {
  let hasStopped = false
  const server = await startServer(t, (_, response) => {
    if (!hasStopped && server.requests() > 20) {
      hasStopped = true
      const endMono = performance.now() + 500
      while (performance.now() < endMono);
    }
    response.end('hello')
  })
  const { requests, latency } = await engineOf('autocannon').run(
    optionsFor(t, server.origin, { perSecond: 200 }),
  )
  assert.equal(requests, 200, 'those that are due in the measured time count, however late they are answered')
  const slower = latency!.percentiles.find(({ micros }) => micros >= 100_000)!
  // Of 200 planned requests about 80 were due in the first 400 ms of the stop; a closed loop would have seen eight.
  assert.ok(slower.percentile <= 75, JSON.stringify(latency))
})

test('autocannon survives connections that are closed before or after an answer', async (t) => {
  let i = 0
  const cutting = await startServer(t, (_, response) => {
    if (i++ % 2 === 0) response.end('hello')
    else response.writeHead(200, { 'content-length': '100' }).write('half', () => response.socket?.destroy())
  })
  const cut = await engineOf('autocannon').run(optionsFor(t, cutting.origin))
  assert.ok(cut.requests > 0 && cut.errors.reset > 0, JSON.stringify(cut))
  const unseen = cutting.requests() - cut.requests - cut.errors.reset
  assert.ok(Math.abs(unseen) <= 2 * CONNECTIONS, `${unseen} of ${cutting.requests()} are missing`)

  const closing = await startServer(t, (_, response) =>
    response.setHeader('connection', 'close').end('hello'),
  )
  const closed = await engineOf('autocannon').run(optionsFor(t, closing.origin))
  assert.ok(closed.requests > CONNECTIONS)
  assert.deepEqual(closed.errors, { connect: 0, timeout: 0, reset: 0, status: 0, other: 0 })
})

test('a load that somebody ends is an error, not a result', async (t) => {
  const server = await startServer(t, (_, response) => response.end('hello'))
  const loading = engineOf('autocannon').run(optionsFor(t, server.origin, { seconds: 120 }))
  const rejected = assert.rejects(loading, /was ended by a signal: the load was aborted/)
  await until(() => server.requests() > 0)
  for (const pid of processTree(process.pid).filter((each) => commandOf(each).includes('autocannon-program')))
    process.kill(pid, 'SIGTERM')
  await rejected
})

test('an engine that is missing is reported with how to get it', (t) => {
  const path = process.env['PATH']
  t.after(() => {
    process.env['PATH'] = path
  })
  process.env['PATH'] = '/nonexistent'
  for (const engine of engines.filter(({ name }) => name !== 'autocannon'))
    assert.throws(() => installedVersion(engine), new RegExp(`${engine.name} is not installed: \\w+`))
})

function assertSpectrum({ requests, latency }: LoadResult, isCorrected: boolean): void {
  assert.ok(latency !== null)
  assert.equal(latency.count, requests)
  assert.equal(latency.isCorrected, isCorrected)
  assert.ok(latency.meanMicros > 0 && latency.maxMicros >= latency.meanMicros)
  for (const wanted of [50, 75, 90, 95, 99, 99.9, 99.99])
    assert.ok(
      latency.percentiles.some(({ percentile }) => percentile === wanted),
      `no percentile ${wanted}`,
    )
}

function optionsFor(t: TestContext, origin: string, changes: Partial<LoadOptions> = {}): LoadOptions {
  const usual = { connections: CONNECTIONS, warmUpSeconds: 0, seconds: 1, perSecond: null, cpu: null }
  return { origin, call: GET, dir: scratch(t), ...usual, ...changes }
}

interface Server {
  readonly origin: string
  requests(): number
}

async function startServer(t: TestContext, answer: http.RequestListener): Promise<Server> {
  let requests = 0
  const origin = await startOrigin(t, (request, response) => {
    requests++
    setTimeout(() => answer(request, response), ANSWER_MS)
  })
  return { origin, requests: () => requests }
}
