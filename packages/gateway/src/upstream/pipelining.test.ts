import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway, TIMEOUTS, until } from '../testing/gateway.js'
import { ok, scriptedOrigin } from '../testing/scripted-origin.js'

// A gateway with `pipelining`, as its clients see it.

/** Answers with the path, after all that has come in this turn has been read. */
function answer(socket: { write(text: string): unknown }, path: string, fields = ''): void {
  setImmediate(() => socket.write(ok(path, fields)))
}

async function getAll(url: string, count: number): Promise<string[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const response = await fetch(`${url}/${i}`)
      const text = await response.text()
      return text === `/${i}` ? String(response.status) : `${response.status} ${text}`
    }),
  )
}

test('clients share few connections, and each gets the answer to its own request', async (t) => {
  let most = 0
  const origin = await scriptedOrigin(t, ({ socket, batches }, path) => {
    most = Math.max(most, ...batches)
    answer(socket, path)
  })
  const gateway = await startGateway(t, {
    upstreams: [{ urls: [origin.url], connections: 2, pipelining: 8 }],
  })
  for (let round = 0; round < 5; round++) {
    assert.deepEqual(new Set(await getAll(gateway.url, 60)), new Set(['200']))
  }
  assert.equal(origin.opened.length, 2)
  assert.ok(most > 1)
})

test('a target that closes every connection after some answers costs no request, even without retries', async (t) => {
  const origin = await scriptedOrigin(t, (connection, path) => {
    const { paths, socket } = connection
    if (paths.indexOf(path) < 6) answer(socket, path)
    else if (paths.indexOf(path) === 6) answer(socket, path, 'Connection: close\r\n')
  })
  const retry = { attempts: 0, budget: 0 }
  const upstream = { urls: [origin.url], connections: 1, pipelining: 2, retry }
  const gateway = await startGateway(t, { upstreams: [upstream] })
  assert.deepEqual(new Set(await getAll(gateway.url, 50)), new Set(['200']))
  assert.ok(origin.opened.length > 1)
})

test('GETs stranded by connections that break are asked again', async (t) => {
  const origin = await scriptedOrigin(t, ({ socket, paths }, path) => {
    if (paths.indexOf(path) < 6) answer(socket, path)
    else socket.destroy()
  })
  const retry = { attempts: 1, budget: 1 }
  const upstream = { urls: [origin.url], connections: 2, pipelining: 4, retry }
  const gateway = await startGateway(t, { upstreams: [upstream] })
  for (let round = 0; round < 4; round++) {
    assert.deepEqual(new Set(await getAll(gateway.url, 30)), new Set(['200']))
  }
})

test('as many requests as the connections can carry are under way, and then maxPending wait', async (t) => {
  const origin = await scriptedOrigin(t)
  const upstream = { urls: [origin.url], connections: 2, pipelining: 3, maxPending: 1 }
  const gateway = await startGateway(t, { upstreams: [upstream] })
  const abort = new AbortController()
  const waiting = Array.from({ length: 7 }, () =>
    fetch(gateway.url, { signal: abort.signal }).catch(() => null),
  )
  await until(() => gateway.plane.inFlight === 7)
  const shed = await fetch(gateway.url)
  assert.deepEqual([shed.status, shed.headers.get('x-gw-error')], [503, 'GW_OVERLOADED'])
  abort.abort()
  await Promise.all(waiting)
  await until(() => gateway.plane.inFlight === 0)
})

test('requests behind one that is never answered time out with it, and the next is served', async (t) => {
  let isSilent = false
  const origin = await scriptedOrigin(t, ({ socket }, path) => {
    if (!isSilent) answer(socket, path)
  })
  const timeouts = { ...TIMEOUTS, headersMs: 300 }
  const upstream = { urls: [origin.url], connections: 1, pipelining: 4, timeouts }
  const gateway = await startGateway(t, { upstreams: [upstream] })
  await getAll(gateway.url, 1)
  isSilent = true
  const statuses = await Promise.all([0, 1, 2].map(async () => (await fetch(gateway.url)).status))
  assert.deepEqual(statuses, [504, 504, 504])
  await until(() => origin.opened[0]!.isClosed)
  isSilent = false
  assert.deepEqual(await getAll(gateway.url, 1), ['200'])
})

test('a client that goes away takes nobody with it', async (t) => {
  const origin = await scriptedOrigin(t, ({ socket }, path) => void (path === '/0' && answer(socket, path)))
  const gateway = await startGateway(t, {
    upstreams: [{ urls: [origin.url], connections: 1, pipelining: 4 }],
  })
  await getAll(gateway.url, 1)
  const abort = new AbortController()
  const gone = fetch(`${gateway.url}/gone`, { signal: abort.signal }).catch(() => null)
  await until(() => origin.paths().includes('/gone'))
  const stays = fetch(`${gateway.url}/stays`)
  await until(() => origin.paths().includes('/stays'))
  abort.abort()
  await gone
  await until(() => gateway.plane.inFlight === 1)
  origin.opened[0]!.socket.write(ok('gone') + ok('stays'))
  assert.equal(await (await stays).text(), 'stays')
  assert.equal(origin.opened.length, 1)
})
