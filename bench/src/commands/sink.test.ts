import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  documentFor,
  type GwProcess,
  origin,
  scratch,
  spawnGw,
  startGateway,
  until,
} from '@sluice/cli/testing'
import { gwInProcess } from '@sluice/cli/testing/in-process'
import type { LogIdentity } from '@sluice/core'
import { assertIdentity } from '@sluice/core/testing'

async function sinkOf(t: TestContext, ...args: readonly string[]): Promise<{ sink: GwProcess; url: string }> {
  const sink = spawnGw(t, ['bench', 'sink', '--listen', '127.0.0.1:0', ...args])
  await until(() => sink.stdout().includes('\n'), sink.stderr)
  return { sink, url: /^sink on (\S+),/.exec(sink.stdout())![1]! }
}

/** Sends calls through a gateway whose log goes to a sink, until all of it is delivered. */
async function logged(t: TestContext, calls: number, log: object): Promise<void> {
  const target = await origin(t, (_, res) => res.end('ok'))
  const document = documentFor(target).replace('log: { sink: none }', `log: ${JSON.stringify(log)}`)
  const gateway = await startGateway(t, document)
  for (let i = 0; i < calls; i++) await (await fetch(`${gateway.url}/a`)).text()
  await until(async () => {
    const identity = (await (await fetch(`${gateway.admin}/v1/log`)).json()) as LogIdentity
    assertIdentity(identity)
    const { indexed, dropped, dead } = identity
    assert.deepEqual([dropped, dead], [0, 0])
    return indexed === calls
  })
}

function spoolIn(t: TestContext): object {
  return { dir: join(scratch(t), 'spool') }
}

test('a sink takes the place of Elasticsearch: it takes bulks and says how many records they had', async (t) => {
  const { sink, url } = await sinkOf(t, '--delay', '5ms')
  const elasticsearch = { nodes: [url], compress: true, spool: spoolIn(t) }
  await logged(t, 40, { sink: 'elasticsearch', elasticsearch })
  const totals = (await (await fetch(`${url}/_sink`)).json()) as Record<string, number>
  assert.equal(totals['records'], 40)
  assert.ok(totals['requests']! > 0 && totals['bytes']! > 0)
  sink.process.kill('SIGINT')
  assert.equal(await sink.exited, 0)
  assert.match(sink.stdout(), /\nin all 40 records in \d+ requests, .*\n$/)
})

test('a sink takes what webhooks send, line by line and as a list', async (t) => {
  const { url } = await sinkOf(t)
  for (const format of ['ndjson', 'array'])
    await logged(t, 20, { sink: 'webhook', webhook: { url: `${url}/hook`, format, spool: spoolIn(t) } })
  assert.equal(((await (await fetch(`${url}/_sink`)).json()) as { records: number }).records, 40)
})

test('an address that is none, or is taken, and a delay that is none are refused', async (t) => {
  const { url } = await sinkOf(t)
  const taken = url.replace('http://', '')
  const refusals: readonly (readonly [readonly string[], number, RegExp])[] = [
    [['--listen', 'here'], 1, /^'here' is not an address; use host:port, /],
    [['--listen', taken], 1, /^cannot listen on \S+ \(address in use\); stop the other process, /],
    [['--delay', 'soon'], 64, /^--delay: 'soon' is not a duration; /],
  ]
  for (const [args, exit, message] of refusals) {
    const { code, stderr } = await gwInProcess(['bench', 'sink', ...args])
    assert.match(stderr, message)
    assert.equal(code, exit)
  }
})
