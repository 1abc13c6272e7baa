import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import net, { type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import type { LogIdentity } from '@sluice/core'
import { assertIdentity } from '@sluice/core/testing'
import { gwInProcess } from './testing/in-process.js'
import { fileWith, gw, scratch, spawnGw, startArgs, startGateway, until } from './testing.js'

/** A log whose `all` gets every call and whose `failures` gets those that failed, with their headers. */
function documentIn(dir: string, more = ''): string {
  return `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0" }
workers: 2
apis:
  orders: { log: { capture: { requestIn: { headers: true }, headersDeny: [x-internal] } } }
routes:
  - { id: fine, api: orders, match: { path: /fine }, respond: { status: 200 } }
  - { id: broken, api: orders, match: { path: /broken }, respond: { status: 500 } }
log:
  targets:
    - id: all
      sink: file
      file: { dir: ${join(dir, 'all')} }
      capture: { requestIn: { headers: false } }
    - id: failures
      sink: file
      when: 'res.status >= 500 && api.name == "orders"'
      file: { dir: ${join(dir, 'failures')} }
${more}`
}

async function identityOf(admin: string): Promise<LogIdentity> {
  const identity = (await (await fetch(`${admin}/v1/log`)).json()) as LogIdentity
  assertIdentity(identity)
  return identity
}

test('each log target gets its records and its own counters, and gw logs reads any of them', async (t) => {
  const dir = scratch(t)
  const gateway = await startGateway(t, documentIn(dir))
  for (const path of ['/fine', '/broken', '/fine', '/none']) {
    const headers = { 'x-internal': 'not for the log', 'x-tenant': 'acme' }
    await (await fetch(gateway.url + path, { headers })).arrayBuffer()
  }
  await until(async () => (await identityOf(gateway.admin)).indexed === 5)
  const { received, targets } = await identityOf(gateway.admin)
  assert.deepEqual(
    [received, targets!['all']!.indexed, targets!['failures']!.indexed, Object.keys(targets!)],
    [5, 4, 1, ['all', 'failures']],
  )
  const metrics = await (await fetch(`${gateway.admin}/metrics`)).text()
  assert.match(metrics, /^gw_log_indexed_total\{target="all"\} 4$/m)
  assert.match(metrics, /^gw_log_indexed_total\{target="failures"\} 1$/m)

  const read = async (...flags: string[]) => {
    const { code, stdout, stderr } = await gwInProcess([
      'logs',
      'search',
      '-c',
      gateway.config,
      '-o',
      'jsonl',
      ...flags,
    ])
    assert.equal(code, 0, stderr)
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  }
  const all = await read()
  assert.deepEqual(all.map(({ route }) => route).sort(), ['-', 'broken', 'fine', 'fine'])
  assert.ok(all.every(({ hdr }) => hdr === undefined))
  const [failed, ...others] = await read('--target', 'failures')
  assert.deepEqual([failed.route, others], ['broken', []])
  assert.equal(failed.hdr.req_in['x-tenant'], 'acme')
  assert.equal(failed.hdr.req_in['x-internal'], undefined)

  const wrong = await gw(['logs', 'tail', '-c', gateway.config, '--target', 'siem'])
  assert.equal(wrong.code, 64)
  assert.match(wrong.stderr, /has no log target 'siem'; available: main, all, failures\n$/)
})

test('--log-sink replaces all targets', async (t) => {
  const dir = scratch(t)
  const config = fileWith(t, documentIn(dir))
  const running = spawnGw(t, startArgs(t, config, '--log-sink', 'none'))
  await until(() => running.stdout().includes('admin API on'), running.stderr)
  const admin = /admin API on (\S+)/.exec(running.stdout())![1]!
  const url = /listening on (\S+)/.exec(running.stdout())![1]!
  assert.equal((await fetch(`${url}/fine`)).status, 200)
  assert.equal((await identityOf(admin)).received, 0)
  assert.equal(existsSync(join(dir, 'all')), false)
})

test('a document without a readable log, or with one that does not respond, is reported', async (t) => {
  const document = (log: string) => fileWith(t, `version: 1\nlog: { ${log} }\n`)
  const tail = (config: string, ...more: string[]) =>
    gwInProcess(['logs', 'tail', '--no-follow', '-c', config, ...more])
  const none = await tail(document('sink: none'))
  assert.match(none.stderr, /has log\.sink: none, so there is no traffic log; /)
  const unread = await tail(document('outputs: [{ id: out, sink: stdout }]'))
  assert.match(unread.stderr, /has out\.sink: stdout, which gw cannot read; /)
  const settings = 'elasticsearch: { product: opensearch, nodes: ["http://127.0.0.1:9"] }'
  const openSearch = await tail(document(`sink: elasticsearch, ${settings}`))
  assert.deepEqual([openSearch.code, /127\.0\.0\.1:9 does not respond/.test(openSearch.stderr)], [5, true])
  const both = await tail(document('sink: stdout, outputs: [{ id: out, sink: stdout }]'))
  assert.match(both.stderr, /has log\.sink: stdout, out\.sink: stdout, which gw cannot read/)
})

test('gw log-setup sets up the named target and requires a name if there are several', async (t) => {
  const [first, second] = ['http://127.0.0.1:1', 'http://127.0.0.1:9']
  const target = (id: string, node: string): string => `    - id: ${id}
      sink: elasticsearch
      elasticsearch: { nodes: ["${node}"], dataStream: logs-${id}-default }
`
  const documentOf = (targets: string): string =>
    fileWith(t, `version: 1\nlog:\n  elasticsearch: { nodes: ["${first}"] }\n  targets:\n${targets}`)
  const setUp = (config: string, ...flags: string[]) =>
    gwInProcess(['log-setup', '-c', config, '--dry-run', ...flags])
  const one = await setUp(documentOf(target('audit', second)))
  assert.equal(one.code, 5)
  assert.match(one.stderr, /127\.0\.0\.1:9/, 'the section of a sink that is not used is not it')
  const both = documentOf(target('audit', first) + target('calls', second))
  const several = await setUp(both)
  assert.equal(several.code, 64)
  assert.match(several.stderr, /has several Elasticsearch targets: audit, calls; choose one with --target\n$/)
  assert.match((await setUp(both, '--target', 'calls')).stderr, /127\.0\.0\.1:9/)
  const none = await setUp(documentOf('    - { id: out, sink: stdout }\n'), '--target', 'out')
  assert.match(none.stderr, /has no Elasticsearch settings for the target 'out'; specify the cluster/)
})

test('a target that cannot be opened is reported by its name', async (t) => {
  const file = fileWith(t, '', 'no-directory')
  const document = `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0" }
workers: 1
log: { outputs: [{ id: siem, sink: file, file: { dir: ${join(file, 'traffic')} } }] }
`
  const started = spawnGw(t, startArgs(t, fileWith(t, document)))
  assert.notEqual(await started.exited, 0)
  assert.match(started.stderr(), /target 'siem': .*no-directory/)
})

test('a body is recorded up to capture.maxBodyBytes, and a message beyond syslog.maxMessageBytes is a dead letter', async (t) => {
  const dir = scratch(t)
  const receiver = net.createServer((socket) => socket.on('error', () => {}).resume())
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  t.after(() => receiver.close())
  const { port } = receiver.address() as AddressInfo
  const document = `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0" }
workers: 1
routes:
  - id: all
    match: { path: /* }
    respond: { status: 200, headers: { content-type: text/plain }, body: abcdefgh }
log:
  sink: file
  file: { dir: ${join(dir, 'files')} }
  capture: { responseOut: { body: true }, maxBodyBytes: 3b }
  targets:
    - id: siem
      sink: syslog
      syslog: { address: "tcp://127.0.0.1:${port}", maxMessageBytes: 2kb, spool: { dir: ${join(dir, 'spool')} } }
`
  const gateway = await startGateway(t, document)
  for (const path of ['/short', `/${'long'.repeat(600)}`]) await (await fetch(gateway.url + path)).text()
  await until(async () => {
    const siem = (await identityOf(gateway.admin)).targets?.['siem']
    return siem?.indexed === 1 && siem.dead === 1
  })
  const { stdout } = await gwInProcess([
    'logs',
    'search',
    '-c',
    gateway.config,
    '--target',
    'main',
    '-o',
    'jsonl',
  ])
  const { body } = JSON.parse(stdout.split('\n')[0]!)
  assert.deepEqual([body.res_out.text, body.res_out.bytes], ['abc', 8])
})
