import assert from 'node:assert/strict'
import { test } from 'node:test'
import { displayPlan, formatDiagnostic, loadDocument, resolvePlan } from '../index.js'
import { SAMPLE_CATALOG as catalog } from '../testing/sample-catalog.js'

const ROUTES = 'routes: [{ id: a, match: { path: / }, upstream: up }]'

function load(lines: string, env: Record<string, string>) {
  return loadDocument({ text: `version: 1\n${lines}\n${ROUTES}\n`, name: 'a' }, { catalog, env })
}

function planOf(lines: string, env: Record<string, string>) {
  const result = load(lines, env)
  assert.ok(result.ok, result.ok ? '' : result.diagnostics.map(formatDiagnostic).join('\n'))
  return result.bundle
}

function mistakes(lines: string, env: Record<string, string> = {}): string {
  const result = load(lines, env)
  return result.ok ? '' : result.diagnostics.map(formatDiagnostic).join('\n')
}

const UP =
  'upstreams: { up: { targets: ["http://${env:UP_HOST:-127.0.0.1}:${env:UP_PORT:-9000}"] } }\nworkers: "${env:WORKERS:-3}"'

test('a variable that is not set, or empty, takes its default, as a text and as a number', () => {
  for (const env of [{}, { UP_HOST: '', WORKERS: '' }]) {
    const plan = resolvePlan(planOf(UP, env))
    assert.deepEqual([plan.upstreams[0]?.targets[0]?.url, plan.workers], ['http://127.0.0.1:9000', 3])
  }
  const plan = resolvePlan(planOf(UP, { UP_HOST: 'up', UP_PORT: '1', WORKERS: '2' }))
  assert.deepEqual([plan.upstreams[0]?.targets[0]?.url, plan.workers], ['http://up:1', 2])
})

test('a default may be empty, and hold colons, slashes and dollars', () => {
  const lines = 'upstreams: { up: { targets: ["${env:URL:-http://a:1}"] } }\nenvironment: "x${env:E:-}y"'
  const plan = resolvePlan(planOf(lines, {}))
  assert.deepEqual([plan.upstreams[0]?.targets[0]?.url, plan.environment], ['http://a:1', 'xy'])
})

test('a default where a secret stands is never shown', () => {
  const password = '"${env:PW:-hunter2}"'
  const log = `log: { sink: elasticsearch, elasticsearch: { nodes: ["http://a"], auth: { username: u, password: ${password} } } }`
  const { plan } = planOf(`upstreams: { up: { targets: ["http://a"] } }\n${log}`, {})
  const shown = JSON.stringify(displayPlan(plan, catalog))
  assert.match(shown, /\$\{env:PW:-\*\*\*\}/)
  assert.doesNotMatch(shown, /hunter2/)
})

test('messages name a reference without its default', () => {
  const text = mistakes('workers: "${env:N:-hunter2}"\nupstreams: { up: { targets: ["http://a"] } }')
  assert.match(text, /the value of \$\{env:N:-…\} is not /)
  assert.doesNotMatch(text, /hunter2/)
})

test('a variable without a default says how to write one, and files have none', () => {
  const [env, file] = ['${env:NOBODY}', '${file:nowhere:-x}'].map((text) =>
    mistakes(`environment: "${text}"`),
  )
  assert.match(env ?? '', /'NOBODY' is not set \(set it, add a default as in \$\{env:NOBODY:-default\}, or/)
  assert.match(file ?? '', /\(only \$\{env:NAME:-default\} supports a default\)/)
})
