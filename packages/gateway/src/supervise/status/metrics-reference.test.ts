import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { LOSS_REASONS } from '@sluice/core'
import { fakeDocument, GatewayProcess } from '../testing/gateway-process.js'
import { METRICS_HELP } from './metrics-help.js'

const PAGE = new URL('../../../../../docs/reference/metrics.md', import.meta.url)

function page(): string {
  const rows = Object.entries(METRICS_HELP).map(([family, help]) => `| \`${family}\` | ${help} |`)
  const reasons = Object.entries(LOSS_REASONS).map(([reason, meaning]) => `| \`${reason}\` | ${meaning} |`)
  return `# Metrics

\`GET /metrics\` returns these metrics in the Prometheus text format, on the admin address and on \`metrics.address\`.
Names ending in \`_total\` are counters, which survive the worker that counted. Names with \`_bucket\`, \`_sum\` and
\`_count\` belong to histograms. All others are gauges. This page is generated, see CONTRIBUTING.md.

Clients that accept \`application/openmetrics-text\` get OpenMetrics 1.0. There, buckets of \`gw_request_duration_seconds\`
show a request of a sampled trace as exemplar \`trace_id\`. Each worker bounds the series: 20,000
routes, 10,000 errors by route and code, 10,000 by route, policy and code, 5,000 policies by route, 20,000 counters of
policies, 100 groups of consumers, and per upstream the responses of 200 targets. Everything beyond a bound is added up
with the label value \`other\`.

| metric | meaning |
| --- | --- |
${rows.join('\n')}

## Reasons of \`gw_log_dropped_total\`
These are also the members of \`droppedBy\` in \`GET /v1/log\`, and of \`log.reasons\` in a gap record.

| reason | meaning |
| --- | --- |
${reasons.join('\n')}
`
}

test('the page of metrics is generated from the help texts', () => {
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(PAGE, page())
  const written = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : ''
  assert.equal(written, page(), 'run the test with UPDATE_GOLDEN=1 to rewrite the page')
})

test('no two metrics have the same name in OpenMetrics, where counters lose their suffix', () => {
  const names = Object.keys(METRICS_HELP).map((name) => name.replace(/_total$/, ''))
  assert.equal(new Set(names).size, names.length)
})

test('a scraper that asks for OpenMetrics gets it', async (t) => {
  const gateway = await new GatewayProcess(t, { document: fakeDocument('first') }).started()
  const answer = await gateway.api('/metrics', { headers: { accept: 'application/openmetrics-text' } })
  assert.equal(
    answer.headers.get('content-type'),
    'application/openmetrics-text; version=1.0.0; charset=utf-8',
  )
  assert.match(await answer.text(), /^# TYPE gw_rollouts counter\n(?:.*\n)*# EOF\n$/m)
})

test('each worker reports its heap, its garbage collections and the delays of its loop', async (t) => {
  const gateway = await new GatewayProcess(t, { document: fakeDocument('first') }).started()
  const text = await (await gateway.api('/metrics')).text()
  for (const worker of [1, 2]) {
    assert.match(text, new RegExp(`^gw_worker_heap_used_bytes{worker="${worker}"} \\d{6,}$`, 'm'))
    assert.match(text, new RegExp(`^gw_worker_gc_total{worker="${worker}"} \\d+$`, 'm'))
    assert.match(text, new RegExp(`^gw_worker_gc_seconds_total{worker="${worker}"} [\\d.e-]+$`, 'm'))
    assert.match(
      text,
      new RegExp(`^gw_worker_loop_delay_seconds_bucket{worker="${worker}",le="\\+Inf"} \\d+$`, 'm'),
    )
  }
})
