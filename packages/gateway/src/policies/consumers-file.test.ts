import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { policyDiagnostics } from '@sluice/config'
import { loadOrThrow } from '@sluice/config/testing'
import { catalog, hashKey } from '@sluice/policies'
import { policyMistakes } from '../explain/policy-mistakes.js'
import { until } from '../supervise/testing/until.js'
import { startGateway } from '../testing/gateway.js'

function keyOf(key: string): object {
  return { id: key, sha256: hashKey(key) }
}

test('a gateway takes up a changed file of consumers by itself, and keeps the last good one', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'consumers-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'consumers.jsonl')
  const put = (text: string): void => {
    writeFileSync(`${file}.new`, text, { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }
  const acme = (...keys: string[]): string => `${JSON.stringify({ id: 'acme', keys: keys.map(keyOf) })}\n`
  put(acme('old'))
  const text = `version: 1
routes:
  - id: a
    respond: { status: 200 }
    policies: [{ use: api-key, with: { consumers: '${file}' } }]
`
  const bundle = loadOrThrow(text, catalog)
  assert.deepEqual(await policyMistakes(bundle, catalog), [])
  const gateway = await startGateway(t, { routes: bundle.plan.routes }, { catalog })
  const status = async (key: string): Promise<number> =>
    (await fetch(gateway.url, { headers: { 'x-api-key': key } })).status
  assert.deepEqual([await status('old'), await status('new')], [200, 401])
  put(acme('new'))
  await until(async () => (await status('new')) === 200)
  assert.equal(await status('old'), 401)

  put('{"id": broken\n')
  await until(() => gateway.events.some(({ event }) => event === 'consumers_file'))
  assert.equal(await status('new'), 200)
  const failures = gateway.plane.samples().find(({ name }) => name === 'gw_consumers_file_failures_total')
  assert.equal(failures?.value, 1)
  const mistakes = await policyMistakes(bundle, catalog)
  const [found] = policyDiagnostics({ text, name: 'gateway.yaml' }, mistakes, catalog)
  assert.match(found!.message, /line 1: the line is not a JSON object/)
})
