import assert from 'node:assert/strict'
import { renameSync, writeFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { fileWith, spawnGw, startArgs, until } from './testing.js'

const DOCUMENT = `
version: 1
listeners: [{ address: 127.0.0.1:0 }]
admin: { address: 127.0.0.1:0 }
log: { sink: none }
routes: [{ id: a, match: { path: /* }, respond: { status: 200, body: ok } }]
`

/** A gateway whose data outlives it, and what its lines say. */
async function started(t: TestContext, args: readonly string[], options: Parameters<typeof spawnGw>[2] = {}) {
  const gateway = spawnGw(t, args, options)
  const addresses = (pattern: RegExp): string[] =>
    [...gateway.stdout().matchAll(pattern)].map((match) => match[1]!)
  const listeners = () => addresses(/^listening on (\S+)/gm)
  const admins = () => addresses(/^admin API on (\S+)/gm)
  await until(() => admins().length === 1, gateway.stderr)
  return { ...gateway, listeners, admins }
}

interface Pids {
  readonly pid: number
  readonly workers: readonly { readonly pid: number }[]
}

async function pidsOf(admin: string): Promise<Pids> {
  return (await (await fetch(`${admin}/v1/status`)).json()) as Pids
}

async function supervisorPid(admin: string): Promise<number> {
  return (await pidsOf(admin)).pid
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** The answers to calls that are made one after the other until asked to stop; each is a connection of its own. */
function startCalls(url: string): () => Promise<readonly string[]> {
  const outcomes: string[] = []
  let isOver = false
  const calls = (async () => {
    while (!isOver) {
      const answer = fetch(url, { headers: { connection: 'close' } }).then((response) => response.text())
      outcomes.push(await answer.catch(String))
    }
  })()
  return async () => {
    isOver = true
    await calls
    return outcomes
  }
}

test('a killed supervisor is restarted, and no request fails', async (t) => {
  const gateway = await started(t, startArgs(t, fileWith(t, DOCUMENT), '--workers', '1'))
  const [url = ''] = gateway.listeners()
  const stopCalls = startCalls(url)
  process.kill(await supervisorPid(gateway.admins()[0]!), 'SIGKILL')
  await until(() => gateway.admins().length === 2, gateway.stderr)
  await until(() => gateway.stderr().includes('"worker.leaves"'), gateway.stderr)
  const outcomes = await stopCalls()
  assert.deepEqual(new Set(outcomes), new Set(['ok']))
  assert.deepEqual(gateway.listeners(), [url, url])
  assert.match(gateway.stderr(), /"supervisor\.ended".*"code":137/)
  gateway.process.kill('SIGTERM')
  assert.equal(await gateway.exited, 0)
})

test('a gateway whose first process is killed keeps serving, and a new gw start takes over', async (t) => {
  const args = startArgs(t, fileWith(t, DOCUMENT), '--workers', '1')
  const first = await started(t, args)
  const [url = ''] = first.listeners()
  first.process.kill('SIGKILL')
  await until(() => first.stderr().includes('"supervisor.abandoned"'), first.stderr)
  const stopCalls = startCalls(url)
  const second = await started(t, args)
  await until(() => first.stderr().includes('"worker.leaves"'), first.stderr)
  assert.deepEqual(new Set(await stopCalls()), new Set(['ok']))
  assert.deepEqual(second.listeners(), [url])
  // Both hear a Ctrl-C, as all processes of a terminal do: it counts once.
  const pid = await supervisorPid(second.admins()[0]!)
  second.process.kill('SIGINT')
  process.kill(pid, 'SIGINT')
  assert.equal(await second.exited, 0)
  assert.doesNotMatch(second.stderr(), /drain\.cut/)
})

// `exited` is the end of the gateway's output, which all its processes hold.
test('a stop right after the supervisor was killed stops the orphaned workers', async (t) => {
  const gateway = await started(t, startArgs(t, fileWith(t, DOCUMENT), '--workers', '2'))
  process.kill(await supervisorPid(gateway.admins()[0]!), 'SIGKILL')
  await until(() => gateway.stderr().split('"worker.left-behind"').length === 3, gateway.stderr)
  gateway.process.kill('SIGTERM')
  await gateway.exited
  assert.equal(
    gateway.stderr().split('"another supervisor has taken over, or the gateway is stopping"').length,
    3,
  )
})

test('a hanging supervisor does not prevent the gateway from stopping', async (t) => {
  const gateway = await started(t, startArgs(t, fileWith(t, DOCUMENT), '--workers', '1'))
  process.kill(await supervisorPid(gateway.admins()[0]!), 'SIGSTOP')
  // One drains, two cut, three end everything at once; one more may come while the process exits.
  const timer = setInterval(() => gateway.process.kill('SIGTERM'), 50)
  t.after(() => clearInterval(timer))
  assert.notEqual(await gateway.exited, 0)
})

test('a supervisor whose parent was killed exits on request', async (t) => {
  const gateway = await started(t, startArgs(t, fileWith(t, DOCUMENT), '--workers', '1'))
  const pid = await supervisorPid(gateway.admins()[0]!)
  gateway.process.kill('SIGKILL')
  await until(() => gateway.stderr().includes('"supervisor.abandoned"'), gateway.stderr)
  process.kill(pid, 'SIGTERM')
  await gateway.exited
  assert.doesNotMatch(gateway.stderr(), /no supervisor has come/)
})

test('orphaned workers exit with the gateway when no file can be written', async (t) => {
  const args = startArgs(t, fileWith(t, DOCUMENT), '--workers', '1')
  const gateway = await started(t, args)
  const dataDir = args[args.indexOf('--data-dir') + 1]!
  renameSync(dataDir, `${dataDir}-away`)
  writeFileSync(dataDir, '')
  process.kill(await supervisorPid(gateway.admins()[0]!), 'SIGKILL')
  await until(() => gateway.admins().length === 2, gateway.stderr)
  await until(() => gateway.stderr().includes('"worker.leaves"'), gateway.stderr)
  gateway.process.kill('SIGTERM')
  assert.equal(await gateway.exited, 0)
})

test('a gateway that npm runs through a shell exits when npm or the shell is killed', {
  skip: process.platform !== 'linux' && 'no procfs',
}, async (t) => {
  const gw = fileURLToPath(new URL('../bin/gw.mjs', import.meta.url))
  const shell = `'${process.execPath}' '${gw}' ${startArgs(t, fileWith(t, DOCUMENT), '--workers', '1').join(' ')}; exit $?`
  const npm = `require('node:child_process').spawn('sh', ['-c', process.argv[1]], { stdio: 'inherit' })`
  for (const options of [
    { node: 'sh', entry: '-c' },
    { node: process.execPath, entry: '-e', args: [npm] },
  ]) {
    const env = { npm_execpath: '/npm-cli.js' }
    const gateway = await started(t, [...(options.args ?? []), shell], { ...options, env })
    gateway.process.kill('SIGKILL')
    await gateway.exited
    assert.match(gateway.stderr(), /"parent\.gone".*"drain\.ended"/s)
  }
})

const LIMITS = `
version: 1
listeners: [{ address: 127.0.0.1:0 }]
admin: { address: 127.0.0.1:0 }
log: { sink: none }
routes:
  - id: rate
    match: { path: /rate }
    policies: [{ use: rate-limit, id: rate, with: { limit: 10/d, burst: 10, key: '"all"' } }]
    respond: { status: 200, body: ok }
  - id: quota
    match: { path: /quota }
    policies: [{ use: quota, id: quota, with: { limit: 10, per: month, key: '"all"' } }]
    respond: { status: 200, body: ok }
`

/** The statuses of this many requests at once, each on a connection of its own. */
function statusesOf(url: string, count: number): Promise<number>[] {
  return Array.from({ length: count }, async () => {
    const response = await fetch(url, { headers: { connection: 'close' } })
    await response.text()
    return response.status
  })
}

const admitted = (statuses: readonly number[]): number => statuses.filter((status) => status === 200).length

/** Repeats requests until the limit of 10 is used up. A worker returns tokens that it has not used after a moment. */
async function assertLimit(url: string, answers: readonly Promise<number>[]): Promise<void> {
  let passed = admitted(await Promise.all(answers))
  await until(async () => {
    if (passed < 10) passed += admitted(await Promise.all(statusesOf(url, 1)))
    return passed >= 10
  })
  assert.equal(passed, 10)
}

test('workers share limits despite a slow supervisor, and counts survive a killed one', async (t) => {
  const gateway = await started(t, startArgs(t, fileWith(t, LIMITS), '--workers', '3'))
  const [url = ''] = gateway.listeners()
  const [admin = ''] = gateway.admins()
  const { pid, workers } = await pidsOf(admin)
  process.kill(pid, 'SIGSTOP')
  const answers = statusesOf(`${url}/rate`, 60)
  const early: number[] = []
  for (const answer of answers) void answer.then((status) => early.push(status))
  // Longer than anything else waits for the supervisor (0.5 s), and shorter than tokens do (5 s).
  await delay(1000)
  // A worker refuses what is beyond the limit by itself, but admits nothing.
  assert.equal(admitted(early), 0)
  process.kill(pid, 'SIGCONT')
  await assertLimit(`${url}/rate`, answers)
  await assertLimit(`${url}/quota`, statusesOf(`${url}/quota`, 20))

  // Counts are copied to the parent every 50 ms. When the second answer arrives, a timer that was due has run.
  await delay(100)
  for (let i = 0; i < 2; i++) await pidsOf(admin)
  process.kill(pid, 'SIGKILL')
  await until(() => gateway.admins().length === 2, gateway.stderr)
  // Those that were left behind count for themselves until they have ended.
  await until(() => !workers.some((worker) => isAlive(worker.pid)), gateway.stderr)
  for (const path of ['/rate', '/quota'])
    assert.equal(admitted(await Promise.all(statusesOf(url + path, 20))), 0, path)
})
