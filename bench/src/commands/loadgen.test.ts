import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { gw, origin, scratch, spawnGw, until } from '@sluice/cli/testing'

test('a load generator by itself sends what it is asked for, and reports latencies of a rate', async (t) => {
  const seen = new Set<string>()
  const url = await origin(t, (request, response) => {
    seen.add(`${request.method} ${request.url} ${request.headers['x-note']}`)
    response.end('hello')
  })
  const load = ['--seconds', '1', '--connections', '4', '--rate', '100', '-X', 'PUT', '-H', 'x-note: a']
  const { code, stdout, stderr } = await gw(['bench', 'loadgen', `${url}/orders`, ...load])
  assert.equal(code, 0, stderr)
  assert.deepEqual([...seen], ['PUT /orders a'])
  assert.match(
    stdout,
    /^\d+ requests\/s: \d+ in 1\.0 s\nerrors: none\nlatency, 100 requests a second wanted, /,
  )
  assert.match(
    stdout,
    /corrected for coordinated omission:\n {2}P50 +[\d.]+ ms\n(.*\n)*? {2}P99\.99 +[\d.]+ ms\n/,
  )
})

test('where nothing is answered well the command fails, and JSON says why', async (t) => {
  const url = await origin(t, (_, response) => response.writeHead(404).end())
  const { code, stdout } = await gw(['bench', 'loadgen', url, '--seconds', '1', '-o', 'json'])
  assert.equal(code, 1)
  const { requests, errors, latency } = JSON.parse(stdout)
  assert.deepEqual([requests, latency], [0, null])
  assert.ok(errors.status > 0)
})

test('a signal ends the load at once and leaves nothing behind', async (t) => {
  let requests = 0
  const url = await origin(t, (_, response) => {
    requests++
    response.end('hello')
  })
  const folder = scratch(t)
  const env = { TMPDIR: folder }
  const running = spawnGw(t, ['bench', 'loadgen', url, '--seconds', '600', '--connections', '2'], { env })
  await until(() => requests > 0, running.stderr)
  assert.equal(readdirSync(folder).length, 1)
  running.process.kill('SIGINT')
  assert.equal(await running.exited, 1)
  assert.match(running.stderr(), /\nstopped; the load has no result\n$/)
  assert.equal(running.stdout(), '')
  assert.deepEqual(readdirSync(folder), [])
})
