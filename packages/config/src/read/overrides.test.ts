import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatDiagnostic } from '../diagnostic/diagnostic.js'
import { loadDocument } from '../load/load-document.js'
import type { Overrides } from './overrides.js'

function load(text: string, overrides: Overrides) {
  return loadDocument({ text, name: 'g.yaml' }, { catalog: new Map(), env: {}, overrides })
}

test('flags take the place of what the document says', () => {
  const text =
    'version: 1\nworkers: 2\nlisteners: [{ address: ":1", health: true }, { address: ":2" }]\nlog: { fields: full }\n'
  const result = load(text, { workers: 4, listen: '127.0.0.1:0', logSink: 'none' })
  assert.ok(result.ok)
  const { workers, listeners, log } = result.bundle.plan
  assert.equal(workers, 4)
  assert.deepEqual(
    listeners.map(({ address, health }) => [address, health]),
    [
      ['127.0.0.1:0', true],
      ['0.0.0.0:2', false],
    ],
  )
  assert.deepEqual([log.sink, log.fields], ['none', 'full'])
})

test('flags add what the document leaves out', () => {
  const result = load('version: 1', { listen: ':9000' })
  assert.ok(result.ok)
  assert.deepEqual(
    result.bundle.plan.listeners.map(({ address }) => address),
    ['0.0.0.0:9000'],
  )
})

test('a flag that is wrong is named as the flag', () => {
  const result = load('version: 1', { workers: 99, listen: 'nowhere', logSink: 'elasticsearch' })
  assert.ok(!result.ok)
  assert.deepEqual(result.diagnostics.map(formatDiagnostic), [
    "g.yaml:1:1: --listen: 'nowhere' is not a listen address (add a port, for example nowhere:8080)",
    'g.yaml:1:1: --log-sink: a log target with sink: elasticsearch needs log.elasticsearch (add log.elasticsearch with nodes: [http://127.0.0.1:9200])',
    "g.yaml:1:1: --workers: 'workers' must be a whole number from 1 to 64, not 99 (use a value in this range)",
  ])
})

test('an address of the command line that is taken is named as the flag; what the document says is not', () => {
  const text =
    'version: 1\nlisteners: [{ address: ":1" }, { address: nowhere }]\nadmin: { address: "127.0.0.1:7" }\n'
  const result = load(text, { listen: '127.0.0.1:7' })
  assert.ok(!result.ok)
  assert.deepEqual(result.diagnostics.map(formatDiagnostic), [
    "g.yaml:2:24: --listen: the address '127.0.0.1:7' is already used by the admin API (choose another port)",
    "g.yaml:2:43: 'nowhere' is not a listen address (add a port, for example nowhere:8080)",
  ])
})
