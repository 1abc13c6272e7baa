import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { closedPort, origin, scratch, startGateway, until } from '../../packages/cli/dist/testing.js'

const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url))
const HOME = process.env.SLUICE_PROMETHEUS
const skip = HOME === undefined ? 'needs Prometheus: npm run services shows what is missing' : false
/** Alerts whose expressions have no value here: the gateway is present, and it has no state server. */
const WITHOUT_DATA = ['SluiceAbsent', 'SluiceStateUnavailable']

/** API key of the consumer. */
const KEY = 'key-of-acme'

const sha256 = (text) => createHash('sha256').update(text).digest('hex')
const read = (path) => readFileSync(join(DEPLOY, path), 'utf8')
const dashboards = readdirSync(join(DEPLOY, 'grafana')).filter((name) => name.endsWith('.json'))

/** Returns the queries of all dashboards, with their variables replaced. */
function dashboardQueries() {
  const panels = dashboards.flatMap((name) => JSON.parse(read(`grafana/${name}`)).panels)
  return panels.flatMap(({ targets }) =>
    targets.map(({ expr }) =>
      expr.replaceAll('$__rate_interval', '1m').replaceAll('$job', 'sluice').replaceAll('$instance', '.+'),
    ),
  )
}

/** Returns the queries of the rules, without the thresholds that alerts compare with. */
function ruleQueries() {
  const rules = ['alerts.yml', 'recording.yml'].flatMap(
    (name) => parse(read(`prometheus/${name}`)).groups[0].rules,
  )
  const withData = rules.filter(({ alert }) => !WITHOUT_DATA.includes(alert))
  return withData.map(({ expr }) => expr.replace(/ (?:==|>|<) [\d.]+$/, ''))
}

test('promtool accepts the rules and the example, and the unit tests of the alerts pass', { skip }, () => {
  for (const args of [
    ['check', 'rules', 'alerts.yml', 'recording.yml'],
    ['check', 'config', 'prometheus.yml'],
    ['test', 'rules', 'alerts.test.yml'],
  ]) {
    const { status, stdout, stderr } = spawnSync(join(HOME, 'promtool'), args, {
      cwd: join(DEPLOY, 'prometheus'),
      encoding: 'utf8',
    })
    assert.equal(status, 0, stdout + stderr)
  }
})

test('every dashboard has a datasource variable that all its panels use', () => {
  assert.equal(dashboards.length, 5)
  for (const name of dashboards) {
    const { templating, panels } = JSON.parse(read(`grafana/${name}`))
    assert.ok(templating.list.some((one) => one.name === 'datasource' && one.type === 'datasource'))
    for (const { datasource } of panels) assert.equal(datasource.uid, '${' + 'datasource}')
  }
})

/**
 * Starts a gateway that has everything the dashboards show: TLS, policies, a consumer, a log, health checks, failures and
 * an open breaker.
 */
async function startFullGateway(t) {
  const target = await origin(t, (req, res) => {
    if (req.url === '/a?fail') res.statusCode = 500
    res.end('ok')
  })
  const folder = scratch(t)
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '30', '-subj', '/CN=localhost']
  assert.equal(spawnSync('openssl', [...made, '-keyout', key, '-out', cert]).status, 0)
  return startGateway(
    t,
    `version: 1
listeners:
  - { address: "127.0.0.1:0" }
  - { address: "127.0.0.1:${await closedPort()}", engine: node, tls: { certFile: "${cert}", keyFile: "${key}" } }
admin: { address: "127.0.0.1:0" }
workers: 1
upstreams:
  up: { targets: ["${target}"], health: { path: / } }
  broken: { targets: ["http://127.0.0.1:${await closedPort()}"], breaker: { minRequests: 1, openFor: 10m, maxOpenFor: 10m }, retry: { attempts: 0 } }
routes:
  - id: all
    match: { path: /a }
    policies:
      - { id: named, use: header, with: { request: { set: { x-a: b } } } }
      - { id: keys, use: api-key, with: { keys: [{ id: acme, sha256: "${sha256(KEY)}", groups: [gold] }] } }
    upstream: up
  - { id: broken, match: { path: /broken }, upstream: broken }
log: { sink: file, file: { dir: "${folder}/log", maxBytes: 100mb } }
`,
  )
}

/** Starts Prometheus, which scrapes the gateway every second. Returns its URL. */
async function startPrometheus(t, gateway) {
  const folder = scratch(t)
  const port = await closedPort()
  const scrape = { job_name: 'sluice', static_configs: [{ targets: [new URL(gateway.admin).host] }] }
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ['alerts.yml', 'recording.yml'].map((name) => join(DEPLOY, 'prometheus', name)),
    scrape_configs: [scrape],
  }
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config))
  const child = spawn(join(HOME, 'prometheus'), [
    `--config.file=${folder}/prometheus.yml`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--enable-feature=exemplar-storage',
    '--log.level=error',
  ])
  const ended = new Promise((resolve) => child.on('exit', resolve))
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const url = `http://127.0.0.1:${port}`
  await until(async () => (await fetch(`${url}/-/ready`).catch(() => null))?.ok === true)
  return url
}

async function ask(url, path, query) {
  const answer = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(query)}`)
  const { status, data, error } = await answer.json()
  assert.equal(status, 'success', `${query.query}: ${error}`)
  return data
}

test('Prometheus answers every query of dashboards and rules from a real gateway', { skip }, async (t) => {
  const gateway = await startFullGateway(t)
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01`, 'x-api-key': KEY }
  const traffic = async () => {
    for (const path of ['/a', '/a?fail', '/broken', '/none'])
      await (await fetch(gateway.url + path, { headers })).arrayBuffer()
    await (await fetch(`${gateway.url}/a`)).arrayBuffer()
  }
  await traffic()
  const url = await startPrometheus(t, gateway)
  for (const query of [...new Set([...dashboardQueries(), ...ruleQueries()])]) {
    await until(
      async () => {
        await traffic()
        const { result } = await ask(url, 'query', { query })
        return (
          result.length > 0 && result.every(({ value }) => query.includes('quantile') || value[1] !== 'NaN')
        )
      },
      () => query,
    )
  }
  const range = { start: String(Date.now() / 1000 - 600), end: String(Date.now() / 1000 + 60) }
  const query = 'gw_request_duration_seconds_bucket{route="all"}'
  await until(async () => {
    const series = await ask(url, 'query_exemplars', { query, ...range })
    return series.some(({ exemplars }) => exemplars.some(({ labels }) => labels.trace_id === traceId))
  })
})
