import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gwInProcess } from '../testing/in-process.js'
import { gw, origin, scratch, startGateway, until } from '../testing.js'

const GW = fileURLToPath(new URL('../../bin/gw.mjs', import.meta.url))
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'

test('calls are found by result, request, trace, lists and patterns; names that no record has are wrong usage', async (t) => {
  const target = await origin(t, (req, res) => {
    res.statusCode = req.url === '/fails' ? 503 : 200
    res.end()
  })
  const dir = join(scratch(t), 'traffic')
  const gateway = await startGateway(
    t,
    `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0" }
workers: 1
upstreams: { up: { targets: ["${target}"] } }
routes: [{ id: all, match: { path: /* }, upstream: up }]
log: { sink: file, file: { dir: ${dir} } }
`,
  )
  const call = async (path: string, init: RequestInit = {}): Promise<string> => {
    const answer = await fetch(gateway.url + path, init)
    await answer.arrayBuffer()
    return answer.headers.get('x-request-id') ?? ''
  }
  await call('/fails')
  await call('/orders/1', { headers: { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` } })
  await call('/orders/2', { method: 'DELETE' })
  await call('/items/1/lines', { method: 'PUT' })
  const search = (...flags: string[]) =>
    gwInProcess(['logs', 'search', '--dir', dir, '-o', 'jsonl', ...flags])
  const records = async (...flags: string[]) => {
    const { code, stdout, stderr } = await search(...flags)
    assert.equal(code, 0, stderr)
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  }
  const paths = async (...flags: string[]) => (await records(...flags)).map(({ url }) => url.path)
  await until(async () => (await records()).length === 4)
  const all = await records()

  const [failed] = await records('--result', 'error')
  assert.deepEqual([failed.url.path, failed.up.status, failed.result], ['/fails', 503, 'error'])
  assert.deepEqual(await paths('--id', all[2].id), ['/orders/2'])
  assert.deepEqual(await paths('--id', all[2].id, '--id', all[0].id), ['/fails', '/orders/2'])
  assert.deepEqual(await paths('--trace', TRACE), ['/orders/1'])
  assert.deepEqual(await paths('--method', 'delete,PUT'), ['/orders/2', '/items/1/lines'])
  assert.deepEqual(await paths('--path', '/*/1*'), ['/orders/1', '/items/1/lines'])
  assert.deepEqual(await paths('--path', '/fail', '--path', '/items'), ['/fails', '/items/1/lines'])
  assert.deepEqual(await paths('--where', 'url.path=/orders/2 || up.status>=500'), ['/fails', '/orders/2'])
  assert.deepEqual(await paths('--where', 'url.path!=/orders/*', '--status', '2xx'), ['/items/1/lines'])

  for (const [flags, message] of [
    [['--where', 'res.statsu=503'], "records have no field 'res.statsu'; did you mean 'res.status'?\n"],
    [['--method', 'GTE'], "'GTE' is not a method; did you mean 'GET'?\n"],
    [
      ['--code', 'GW_UPSTREAM_TIMEOU'],
      "'GW_UPSTREAM_TIMEOU' is not an error code (see docs/reference/errors.md); did you mean 'GW_UPSTREAM_TIMEOUT'?\n",
    ],
    [['--result', 'failed'], "'failed' is not a result; use one of success, blocked, error, aborted, shed\n"],
  ] as const) {
    const { code, stdout, stderr } = await search(...flags)
    assert.equal(JSON.parse(stdout).error.exitCode, 64)
    assert.deepEqual([code, stderr.endsWith(message)], [64, true], stderr)
  }

  const command = `${process.execPath} ${GW} logs tail --no-follow --dir ${dir} --method PUT`
  const terminal = await promisify(execFile)('script', ['-qec', command, '/dev/null'])
  assert.match(
    terminal.stdout,
    /^TIME STATUS METHOD URL ROUTE DURATION UPSTREAM CONSUMER RESULT\r\n.*\/items\/1\/lines/,
  )
  assert.ok(!(await gw(['logs', 'tail', '--no-follow', '--dir', dir])).stdout.includes('TIME'))
})
