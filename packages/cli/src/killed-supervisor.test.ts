import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { fileWith, spawnGw, startArgs, until } from './testing.js'

const DOCUMENT = `
version: 1
listeners: [{ address: 127.0.0.1:0 }]
admin: { address: 127.0.0.1:0 }
log: { sink: none }
routes: [{ id: a, match: { path: /* }, respond: { status: 200, body: ok } }]
`

/** A gateway whose data outlives it, and what its lines say. */
async function started(t: TestContext, args: readonly string[]) {
  const gateway = spawnGw(t, args)
  const addresses = (pattern: RegExp): string[] =>
    [...gateway.stdout().matchAll(pattern)].map((match) => match[1]!)
  const listeners = () => addresses(/^listening on (\S+)/gm)
  const admins = () => addresses(/^admin API on (\S+)/gm)
  await until(() => admins().length === 1, gateway.stderr)
  return { ...gateway, listeners, admins }
}

async function supervisorPid(admin: string): Promise<number> {
  return ((await (await fetch(`${admin}/v1/status`)).json()) as { pid: number }).pid
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

test('a supervisor that is killed is started again, and no call fails meanwhile', async (t) => {
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

test('a gateway whose first process is killed serves on, and a new gw start takes over from it', async (t) => {
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
