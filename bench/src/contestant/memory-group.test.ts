import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { until } from '@sluice/logger/testing'
import { groupLimits } from '../measure/control-group.js'
import { freePort } from './free-port.js'
import { killsIn, limitMemory, MemoryGroup, missingMemoryGroups, peakOf } from './memory-group.js'
import { memoryHome } from './memory-home.js'
import { type RunningServer, startServer } from './running-server.js'

const MB = 1024 ** 2
const LIMIT = 128 * MB
const missing = missingMemoryGroups()
const skip = missing ?? false

/** A folder with the files of a group. */
function group(t: TestContext, files: Readonly<Record<string, string>>): string {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-group-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), `${text}\n`)
  return dir
}

/** What the files of a group hold once it has a limit. */
function limited(t: TestContext, ...names: readonly string[]): Record<string, string> {
  const dir = group(t, Object.fromEntries(names.map((name) => [name, 'max'])))
  limitMemory(dir, LIMIT)
  return Object.fromEntries(readdirSync(dir).map((name) => [name, readFileSync(join(dir, name), 'utf8')]))
}

test('a limit is one of memory and swap together, where there is swap', (t) => {
  const bytes = String(LIMIT)
  const swap = 'memory.memsw.limit_in_bytes'
  assert.deepEqual(limited(t, 'memory.limit_in_bytes'), { 'memory.limit_in_bytes': bytes })
  assert.deepEqual(limited(t, 'memory.limit_in_bytes', swap), {
    'memory.limit_in_bytes': bytes,
    [swap]: bytes,
  })
  assert.deepEqual(limited(t, 'memory.max'), { 'memory.max': bytes })
  assert.deepEqual(limited(t, 'memory.max', 'memory.swap.max'), {
    'memory.max': bytes,
    'memory.swap.max': '0',
  })
})

test('the peak of a group and who was ended in it are read as either version writes them', (t) => {
  const first = { 'memory.max_usage_in_bytes': '123', 'memory.oom_control': 'under_oom 0\noom_kill 2' }
  const second = { 'memory.peak': '456', 'memory.events': 'oom 9\noom_kill 3\noom_group_kill 1' }
  const told = [first, second, {}].map((files) => group(t, files)).map((dir) => [peakOf(dir), killsIn(dir)])
  assert.deepEqual(told, [
    [123, 2],
    [456, 3],
    [null, 0],
  ])
})

/** Groups of ours that are there. */
function groups(): readonly string[] {
  return readdirSync(memoryHome()).filter((name) => name.startsWith('sluice-bench-'))
}

/** A server in a group; it answers with the numbers of its processes, and takes more than it may at `/take`. */
async function limitedServer(t: TestContext): Promise<RunningServer> {
  const port = await freePort()
  const code = `const { spawn } = require('node:child_process')
    const taker = 'process.stdin.once("data", () => process.exit(Buffer.alloc(${4 * LIMIT}, 1).length & 0))'
    const child = spawn(process.execPath, ['-e', taker])
    const group = require('node:fs').readFileSync('/proc/self/cgroup', 'latin1')
    require('node:http').createServer((request, response) => {
      if (request.url === '/take') child.once('exit', (_, signal) => response.end(String(signal))).stdin.write('now')
      else response.end(JSON.stringify({ pids: [process.pid, child.pid], group }))
    }).listen(${port}, '127.0.0.1')`
  const dir = group(t, {})
  const server = await startServer({
    ...{ name: 'limited', version: '1', port, command: [process.execPath, '-e', code] },
    seat: { dir, cpus: null, cores: 1, memoryBytes: LIMIT },
  })
  t.after(() => server.stop())
  return server
}

test('a server with a limit of memory has it from its first moment, with all below it', {
  skip,
}, async (t) => {
  const server = await limitedServer(t)
  const told = await (await fetch(server.url)).json()
  const { pids, group: seen } = told as { readonly pids: readonly number[]; readonly group: string }
  assert.equal(pids[0], server.pid)
  assert.deepEqual(
    pids.map((pid) => groupLimits(pid).memoryBytes),
    [LIMIT, LIMIT],
  )
  const [name] = groups().filter((each) => seen.includes(each))
  assert.ok(name !== undefined, 'it sees itself in a group of ours')
  assert.equal(server.memory!.limitBytes, LIMIT)
  assert.ok(server.memory!.peakBytes()! > 10 * MB && server.memory!.peakBytes()! <= LIMIT)
  await server.stop()
  assert.equal(groups().includes(name), false, 'its group goes with it')
})

test('who takes more than the limit is ended, and is counted once', { skip }, async (t) => {
  const { memory, url } = await limitedServer(t)
  assert.equal(memory!.takeKills(), 0)
  assert.equal(await (await fetch(`${url}/take`)).text(), 'SIGKILL')
  assert.equal(memory!.takeKills(), 1)
  assert.equal(memory!.takeKills(), 0)
  assert.ok(memory!.peakBytes()! > LIMIT - 4 * MB)
})

test('a server that does not start leaves no group', { skip }, async (t) => {
  const before = groups()
  const seat = { dir: group(t, {}), cpus: null, cores: 1, memoryBytes: LIMIT }
  const order = { name: 'short', version: '1', port: await freePort(), seat, command: ['false'] }
  await assert.rejects(startServer(order), /short ended while it started/)
  await until(() => groups().every((name) => before.includes(name)), 'its group has gone')
})

test('what is around a group may allow less, and holds then', { skip }, async () => {
  const made = await MemoryGroup.make(2 ** 50)
  assert.equal(made.limitBytes, groupLimits().memoryBytes ?? 2 ** 50)
  await made.remove()
})

test('a system on which no program can be put into a group is told with what to do', (t) => {
  const path = process.env['PATH']
  process.env['PATH'] = '/nonexistent'
  t.after(() => {
    process.env['PATH'] = path
  })
  assert.match(
    missingMemoryGroups() ?? '',
    /^no group of processes with a limit .*\(.+\); run it as root, or /,
  )
})
