import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { LogOutputPlan, LogPlan } from '@sluice/config'
import { type PlanOverrides, startGateway, type TestGateway, until } from '../testing/gateway.js'

const UPSTREAMS = [{ urls: ['http://127.0.0.1:1'] }]

function scratch(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-test-'))
  t.after(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))
  return dir
}

/** A log with one target, which is unavailable. */
function logTo(data: string, id: string): LogPlan {
  const common = {
    ...({ fields: 'minimal', elasticsearch: null, privacy: null, capture: null } as const),
    file: { dir: '', maxBytes: 0, segmentBytes: 0 },
  }
  const spool = { dir: join(data, `spool-${id}`), maxBytes: 8 * 1024 ** 2, minFreeBytes: 0 }
  const target: LogOutputPlan = {
    ...{ ...common, id, sink: 'webhook', when: null, share: null },
    webhook: {
      ...{ url: 'http://127.0.0.1:1/', timeoutMs: 1000, tls: { caFile: null, insecure: false } },
      ...({ headers: {}, auth: null, format: 'ndjson', compress: false, signature: null } as const),
      spool: { ...spool, whenFull: 'drop-oldest' },
    },
  }
  return { ...common, sink: 'none', outputs: [target], geo: null, slowMs: 1000, unknownRoutes: true }
}

/** Reports about records that no target will deliver. */
function leftBehind({ events }: TestGateway): string[] {
  const messages = events.map(({ fields }) => String((fields as { message?: string }).message))
  return messages.filter((message) => message.includes('no target of this log'))
}

test('records of a target that was renamed are reported by one worker, once for each change and each start', async (t) => {
  const data = scratch(t)
  const overrides: PlanOverrides = { upstreams: UPSTREAMS, log: logTo(data, 'siem') }
  const gateway = await startGateway(t, overrides)
  for (let i = 0; i < 3; i++) await (await fetch(gateway.url)).arrayBuffer()
  await until(() => gateway.plane.logIdentity().onDisk === 3)
  const renamed: PlanOverrides = { upstreams: UPSTREAMS, log: logTo(data, 'audit') }
  await gateway.reload(renamed)
  await until(() => leftBehind(gateway).length > 0)
  assert.match(
    leftBehind(gateway)[0]!,
    /^3 records wait in \/.*\/spool-siem, .*; set it as the spool\.dir of a/,
  )
  // The log is unchanged.
  await gateway.reload({ ...renamed, upstreams: [{ urls: ['http://127.0.0.1:2'] }] })
  const second = await startGateway(t, renamed, { worker: 2 })
  const first = await startGateway(t, renamed)
  await until(() => leftBehind(first).length > 0)
  assert.deepEqual(
    [gateway, second, first].map(leftBehind).map(({ length }) => length),
    [1, 0, 1],
  )
  // A target that uses the folder again delivers its records, so nothing is reported.
  await first.reload(overrides)
  await until(() => first.plane.logIdentity().onDisk === 3)
  assert.equal(leftBehind(first).length, 1)
})
