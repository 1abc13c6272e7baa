import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { origin as startOrigin } from '@sluice/cli/testing'
import type { RunOptions } from '../model/run.js'
import type { Call } from '../model/scenario.js'
import type { Summary } from '../model/summary.js'
import { freePort } from '../process/port.js'
import { isRunning } from '../process/process-use.js'
import { pointsCsv } from '../report/points-csv.js'
import { missingPeer } from '../servers/peers.js'
import { urlSuite } from '../suite/quick.js'
import { partsOf, SMALL_PARTS, smallLoad } from '../testing/small-load.js'
import { Notes, optionsOf, PLAIN, suiteOf } from '../testing/small-suite.js'
import { runSuite } from './run-suite.js'

const run = (options: RunOptions) => runSuite(options, new Notes(), SMALL_PARTS)

/** A server of this process, which is not of the benchmark. */
async function serve(t: TestContext, status = 200): Promise<{ origin: string; paths: Set<string> }> {
  const paths = new Set<string>()
  const origin = await startOrigin(t, (request, response) => {
    paths.add(`${request.method} ${request.url}`)
    response.writeHead(status).end('hello')
  })
  return { origin, paths }
}

/** A process that waits for its end. */
async function idle(t: TestContext): Promise<ChildProcess & { readonly pid: number }> {
  const child = spawn(process.execPath, ['-e', 'console.log("up"); setInterval(() => {}, 60_000)'])
  t.after(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child as typeof child & { readonly pid: number }
}

function call(path: string): Call {
  return { method: 'GET', path, headers: {}, body: null }
}

async function measured(origin: string, pid: number | null, path = '/a?b=c'): Promise<Summary> {
  const suite = urlSuite(call(path))
  const target = { origin, pid }
  return run(optionsOf(suite, { target, rateShares: [0.5] }))
}

test('a running server gets the request of the URL, and no other process is started', async (t) => {
  const { origin, paths } = await serve(t)
  const { points, warnings, host } = await measured(origin, null)
  assert.deepEqual(
    points.map(({ system, kind, title }) => [system, kind, title]),
    [
      ['target', 'saturation', 'GET /a?b=***'],
      ['target', 'fixed-rate', 'GET /a?b=***'],
    ],
  )
  assert.deepEqual([...paths], ['GET /a?b=c'])
  for (const point of points) {
    assert.ok(point.requests > 0 && point.latency !== null)
    assert.deepEqual([point.cpuMicrosPerRequest, point.rssBytes, point.busyShare], [null, null, null])
    assert.deepEqual(point.diagnostics, [])
  }
  assert.match(warnings.join('\n'), /did not start the target/)
  assert.equal('target' in host.versions, false)
})

test('what is not known of a target is no figure of a report', async (t) => {
  const { origin } = await serve(t)
  const summary = await measured(origin, null)
  const valid = { ...summary, points: summary.points.map((point) => ({ ...point, invalid: [] })) }
  const [names, ...lines] = pointsCsv(valid)
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','))
  for (const name of ['cpus', 'cpu', 'busy', 'rss', 'rps_per_score'])
    assert.deepEqual(
      lines.map((line) => line[names!.indexOf(name)]),
      ['', ''],
      name,
    )
})

test('with its process the CPU time and memory of a target are measured, too', async (t) => {
  const { origin } = await serve(t)
  const [point] = (await measured(origin, process.pid)).points
  assert.ok(point!.cpuMicrosPerRequest!.mean > 0)
  assert.ok(point!.rssBytes! > 1_000_000)
})

test('a process that has nothing to do with the answers is reported, and no request is free of cost', async (t) => {
  const { origin } = await serve(t)
  // It is asleep, but Node.js may wake it once: what it uses then is less than a tick of the clock.
  const { pid } = await idle(t)
  const { points, warnings } = await measured(origin, pid)
  assert.deepEqual(points[0]!.cpuMicrosPerRequest, null)
  assert.match(
    warnings.join('\n'),
    new RegExp(`the process ${pid} and those below it used no CPU time: --pid is`),
  )
})

test('a process that ends while it is measured has no CPU time, and the point is no result', async (t) => {
  const { origin } = await serve(t)
  const child = await idle(t)
  const load = smallLoad((options) => {
    if (options.origin !== origin) return
    child.kill('SIGKILL')
    const giveUpMono = performance.now() + 20_000
    while (isRunning(child.pid)) assert.ok(performance.now() < giveUpMono, 'it must end')
  })
  const target = { origin, pid: child.pid }
  const options = optionsOf(urlSuite(call('/')), { target, warmUpSeconds: 0, repetitions: 1 })
  const { points } = await runSuite(options, new Notes(), partsOf(load))
  assert.ok(points[0]!.requests > 0)
  assert.deepEqual(points[0]!.cpuMicrosPerRequest, null)
  const reason = new RegExp(`the process ${child.pid} of target has ended while it was measured`)
  assert.match(points[0]!.invalid.join('\n'), reason)
})

test('a peer stands beside a target, and what is known of it is measured', async (t) => {
  const missing = missingPeer('nginx')
  if (missing !== null) return t.skip(missing)
  const { origin } = await serve(t)
  const options = optionsOf(suiteOf(PLAIN, [2]), { target: { origin, pid: null }, peers: ['nginx'] })
  const { points } = await run(options)
  assert.deepEqual(points.map(({ system }) => system).toSorted(), ['nginx', 'target'])
  for (const { system, busyShare, requests } of points) {
    assert.ok(requests > 0)
    assert.equal(busyShare !== null, system === 'nginx')
  }
})

test('a target that answers with errors is no result', async (t) => {
  const { origin } = await serve(t, 404)
  const [point] = (await measured(origin, null)).points
  assert.match(point!.invalid.join('\n'), /requests failed, 0 were completed: \d+ status/)
})

test('a target that does not serve, and a process that is not there, end the run with the reason', async (t) => {
  const nobody = `http://127.0.0.1:${await freePort()}`
  await assert.rejects(measured(nobody, null), /cannot be reached \(ECONNREFUSED\); is it running\?/)
  const { origin } = await serve(t)
  await assert.rejects(measured(origin, 4_194_304), /there is no process 4194304 on this machine/)
})

test('of a suite a target is asked for what a plain proxy does', async (t) => {
  const { origin, paths } = await serve(t)
  const more = [
    { ...PLAIN, id: 'logged', log: 'elasticsearch' as const },
    { ...PLAIN, id: 'guarded', isPlainProxy: false },
  ]
  const cases = more.map((scenario) => ({ scenario, connections: [2] }))
  const suite = suiteOf(PLAIN, [2])
  const target = { origin, pid: null }
  const all = { ...suite, cases: [...suite.cases, ...cases] }
  const { points, warnings } = await run(optionsOf(all, { target }))
  assert.deepEqual(
    points.map(({ scenario }) => scenario),
    ['plain'],
  )
  assert.deepEqual([...paths], ['GET /orders'])
  assert.match(warnings.join('\n'), /left out: logged, guarded, because it is more than a plain proxy does/)
  await assert.rejects(
    run(optionsOf({ ...suite, cases }, { target })),
    /left out: logged, guarded, because it is more than a plain proxy does/,
  )
})
