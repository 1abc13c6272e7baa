import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { installPackage, policyCode } from '@sluice/config/testing'
import { scratch, spawnGw, startArgs, until } from '../testing.js'

/** Hooks that leave something that cannot be sent, as the source of a step. */
const FAILING: Readonly<Record<string, string>> = {
  'status-nan': 'onResponse: (x) => (x.status = NaN, null)',
  'status-text': 'onResponse: (x) => (x.status = "404", null)',
  'status-99': 'onResponse: (x) => (x.status = 99, null)',
  'status-100': 'onResponse: (x) => (x.status = 100, null)',
  'status-101': 'onResponse: async (x) => { await null; x.status = 101; return null }',
  'status-600': 'onResponse: (x) => (x.status = 600, null)',
  'status-1000': 'onResponse: (x) => (x.status = 1000, null)',
  'status-negative': 'onResponse: (x) => (x.status = -1, null)',
  'status-fraction': 'onResponse: (x) => (x.status = 200.5, null)',
  'status-null': 'onResponse: (x) => (x.status = null, null)',
  'line-break': 'onResponse: (x) => (x.responseHeaders.push("x-a", "b\\r\\nx-c: d"), null)',
  'field-name': 'onResponse: (x) => (x.responseHeaders.push("x a", "b"), null)',
  'no-fields': 'onResponse: (x) => (x.responseHeaders = null, null)',
  'text-body': 'onResponse: (x) => (x.responseBody = "text", null)',
  'request-line-break': 'onRequest: (x) => (x.headers.push("x-a", "b\\r\\nx-c: d"), null)',
  'reply-status': 'onRequest: () => sluice.answer(99, [], null)',
  'reply-field': 'onRequest: () => sluice.answer(200, ["x-a", "b\\r\\nx-c: d"], null)',
  'reply-text': 'onRequest: () => sluice.answer(200, [], "text")',
  'reply-getter': 'onRequest: () => ({ get status() { throw new Error("no") } })',
  'rejecting-thenable': 'onRequest: () => ({ then(keep, refuse) { refuse(new Error("no")) } })',
  'throwing-thenable': 'onRequest: () => ({ get then() { throw new Error("no") } })',
  'lost-prototype':
    'onRequest: () => Object.setPrototypeOf((async () => { throw new Error("no") })(), { then: Promise.prototype.then })',
}

/** Hooks whose results look strange and can be sent. */
const PASSING: Readonly<Record<string, string>> = {
  'reply-that-changes': `onRequest: () => {
    let reads = 0
    return { get status() { return reads++ === 0 ? 200 : 99 }, headers: [], body: Buffer.from('fine'), problem: null }
  }`,
  thenable: 'onRequest: () => ({ then(keep) { keep(null) } })',
}

const CODE = policyCode(
  'deeds',
  `const steps = {
    ${Object.entries({ ...FAILING, ...PASSING })
      .map(([name, step]) => `'${name}': { ${step} }`)
      .join(',\n')},
    'changed-later': { onRequest: () => { shared.status = calls++ === 0 ? 200 : 99; return shared } },
  }
  let calls = 0
  const shared = { status: 200, headers: [], body: Buffer.from('fine'), problem: null }
  return { name: 'deeds', ...steps[config.say] }`,
)

function documentOf(engine: string, origin: string): string {
  const says = [...Object.keys(FAILING), ...Object.keys(PASSING), 'changed-later']
  const routes = says.flatMap((say) => {
    const policy = `policies: [{ use: deeds, with: { say: ${say} } }]`
    return [
      `  - { id: own-${say}, match: { path: /own/${say} }, respond: { status: 200, body: fine }, ${policy} }`,
      `  - { id: passed-${say}, match: { path: /passed/${say} }, upstream: origin, ${policy} }`,
    ]
  })
  return `version: 1
listeners: [{ address: "127.0.0.1:0", engine: ${engine} }]
workers: 1
log: { sink: none }
plugins: [deeds]
upstreams:
  origin: { targets: ["${origin}"] }
routes:
  - { id: continue, match: { path: /continue }, respond: { status: 200, body: fine }, policies: [{ use: deeds, onError: continue, with: { say: status-99 } }] }
${routes.join('\n')}
`
}

async function running(t: TestContext, engine: string): Promise<string> {
  const dir = scratch(t)
  installPackage(dir, { name: 'deeds', version: '1.0.0', code: CODE })
  const origin = createServer((_, response) => response.end('fine')).listen(0, '127.0.0.1')
  t.after(() => origin.close())
  await until(() => origin.listening)
  const config = join(dir, 'gateway.yaml')
  writeFileSync(config, documentOf(engine, `http://127.0.0.1:${(origin.address() as AddressInfo).port}`))
  const { stdout, stderr, process: child } = spawnGw(t, startArgs(t, config))
  await until(() => stdout().includes('listening on') || child.exitCode !== null, stderr)
  return /listening on (\S+)/.exec(stdout())?.[1] ?? assert.fail(stderr())
}

for (const engine of ['uws', 'node']) {
  test(`${engine}: what a plugin leaves and cannot be sent is 500 for its request`, async (t) => {
    const url = await running(t, engine)
    const seen = async (path: string): Promise<unknown[]> => {
      const response = await fetch(url + path)
      const text = await response.text()
      return [path, response.status, response.headers.get('x-c'), /"code":"(\w+)"/.exec(text)?.[1] ?? text]
    }
    for (const kind of ['own', 'passed']) {
      for (const say of Object.keys(FAILING)) {
        const path = `/${kind}/${say}`
        assert.deepEqual(await seen(path), [path, 500, null, 'GW_POLICY_ERROR'])
      }
      for (const say of Object.keys(PASSING)) {
        const path = `/${kind}/${say}`
        assert.deepEqual(await seen(path), [path, 200, null, 'fine'])
      }
    }
    // One object for all requests, which the plugin changes after the first.
    assert.equal((await seen('/own/changed-later'))[1], 200)
    assert.equal((await seen('/own/changed-later'))[1], 500)
    assert.deepEqual(await seen('/continue'), ['/continue', 200, null, 'fine'])
  })
}
