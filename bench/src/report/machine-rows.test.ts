import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { DocumentDigest } from '../model/machine.js'
import type { HostFacts } from '../model/summary.js'
import { samplePoint, sampleSummary } from '../testing/sample-summary.js'
import { machineRows, sourceText } from './machine-rows.js'
import { readSummary } from './read-summary.js'
import { writeResults } from './write-results.js'

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'bench-report-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

test('what is known of code, machine and container is written, shown and read again', (t) => {
  const host: HostFacts = {
    ...sampleSummary([]).host,
    source: { commit: 'c0ffee', isDirty: true },
    v8: '11.3.244',
    settings: {
      ...{ governor: 'performance', turbo: false, siblings: ['0,4', '1,5'], openFiles: 65_536 },
      transparentHugePages: 'never',
    },
    limits: { cpus: 2.5, cpuset: '0-3', memoryBytes: 2 ** 31 },
    documents: { 'w1-get': { sha256: 'ab', plan: null }, 'w1-post': { sha256: 'cd', plan: 'ef' } },
  }
  const dir = folder(t)
  const summary = sampleSummary([samplePoint()], { host })
  writeResults(summary, dir)
  assert.deepEqual(readSummary(join(dir, 'summary.json')), summary)
  const facts = readFileSync(join(dir, 'report.md'), 'utf8')
  for (const line of [
    'Node.js: 20.19.5, V8 11.3.244',
    'Source: commit c0ffee, with changes that are not committed',
    'Clock of the cores: governor performance, turbo off',
    'Threads of each core: 0,4 1,5',
    'Open files: 65,536',
    'Transparent huge pages: never',
    'Limits of the container: CPU time of 2.5 cores, cores 0-3, 2 GB of memory',
  ])
    assert.ok(facts.includes(`* ${line}\n`), line)
  assert.match(facts, /\* Configuration: 2 documents of the gateway, together [0-9a-f]{12}; /)
})

function configuration(documents: Readonly<Record<string, DocumentDigest>>): string | undefined {
  const rows = machineRows({ ...sampleSummary([]).host, documents })
  return rows.find(([name]) => name === 'Configuration')?.[1]
}

test('the configuration of a run has one digest, whatever the order and the ports', () => {
  const [get, post] = [
    { sha256: 'ab', plan: '1' },
    { sha256: 'cd', plan: '2' },
  ]
  const text = configuration({ get, post })
  assert.equal(configuration({ post: { ...post, plan: '3' }, get }), text)
  assert.notEqual(configuration({ get: post, post: get }), text)
  assert.match(configuration({ get })!, /^1 document of the gateway, /)
  assert.equal(configuration({}), undefined)
})

test('an older run shows what it knows, and an installed package is known by its version', () => {
  assert.deepEqual(machineRows(sampleSummary([]).host), [])
  assert.equal(sourceText(null), 'no checkout; the version stands for it')
  assert.equal(sourceText({ commit: 'c0ffee', isDirty: false }), 'commit c0ffee')
})
