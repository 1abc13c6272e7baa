import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { FakeClock } from './fake-clock.js'
import { NetworkGuard } from './network-guard.js'

const YEAR_MS = 365 * 86_400_000

function clockOf(t: TestContext): FakeClock {
  const clock = new FakeClock()
  t.after(() => clock.close())
  return clock
}

test('the date, the monotonic clock and timers follow the clock, in order', async (t) => {
  const clock = clockOf(t)
  clock.setDate(Date.UTC(2026, 0, 1))
  const monoBefore = performance.now()
  const fired: [string, number][] = []
  const since = Date.now()
  const note = (name: string) => () => fired.push([name, Math.round((Date.now() - since) / 1000)])
  setTimeout(() => setTimeout(note('nested'), 20_000), 10_000)
  setTimeout(note('late'), 3_600_000)
  setTimeout(note('soon'), 5000)
  clearTimeout(setTimeout(note('cleared'), 6000))
  const every = setInterval(note('every'), 7000)
  await clock.advance(60_000)
  clearInterval(every)
  const names = fired.map(([name]) => name)
  assert.deepEqual(names.slice(0, 3), ['soon', 'every', 'nested'])
  assert.deepEqual(names.at(-1), 'every', 'a repeated timer sees the end of the move')
  assert.ok(!names.includes('cleared') && !names.includes('late'))
  assert.deepEqual(fired[0], ['soon', 5])
  assert.equal(new Date().getUTCFullYear(), 2026)
  assert.ok(Date.now() - since >= 60_000 && performance.now() - monoBefore >= 60_000)
  await clock.advance(YEAR_MS)
  assert.equal(new Date(Date.now()).getUTCFullYear(), 2027)
  assert.equal(new Date(0).toISOString(), '1970-01-01T00:00:00.000Z')
  assert.ok(new Date() instanceof Date)
})

test('timers also fire in real time, can be refreshed, and keep their promise form', async (t) => {
  clockOf(t)
  let fired = 0
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => {
      if (++fired === 2) resolve()
      else timer.refresh()
    }, 1)
  })
  assert.equal(await promisify(setTimeout)(1, 'done'), 'done')
})

test('closing restores the clock of the process', () => {
  const before = [Date, setTimeout, setInterval, clearTimeout, clearInterval]
  const clock = new FakeClock()
  const during = [Date, setTimeout, setInterval, clearTimeout, clearInterval]
  for (const [i, each] of during.entries()) assert.notEqual(each, before[i])
  clock.close()
  assert.deepEqual([Date, setTimeout, setInterval, clearTimeout, clearInterval], before)
})

test('the guard refuses connections except to allowed ports', async (t) => {
  const server = net.createServer((socket) => socket.end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const guard = new NetworkGuard()
  t.after(() => {
    guard.close()
    server.close()
  })
  const { port } = server.address() as net.AddressInfo
  const refused: string[] = []
  guard.onRefused = (address) => refused.push(address)
  const outcome = async (...args: unknown[]): Promise<string> => {
    const socket = (net.connect as (...args: unknown[]) => net.Socket)(...args)
    const event = await new Promise<string>((resolve) => {
      socket.once('connect', () => resolve('connect')).once('error', () => resolve('refused'))
    })
    socket.destroy()
    return event
  }
  assert.equal(await outcome(port, '127.0.0.1'), 'refused')
  guard.allow(port)
  assert.equal(await outcome(port, '127.0.0.1'), 'connect')
  assert.equal(await outcome({ port, host: '127.0.0.1' }), 'connect')
  for (const args of [
    [port, '127.0.0.2'],
    [{ port, host: 'example.com' }],
    ['/tmp/a.sock'],
    [{ path: '/a' }],
    [80],
  ])
    assert.equal(await outcome(...args), 'refused')
  assert.deepEqual(refused, [
    `127.0.0.1:${port}`,
    `127.0.0.2:${port}`,
    `example.com:${port}`,
    '/tmp/a.sock',
    '/a',
    'localhost:80',
  ])
  const response = await fetch('http://127.0.0.1:1/').catch((error: Error) => error)
  assert.ok(response instanceof Error)
})
