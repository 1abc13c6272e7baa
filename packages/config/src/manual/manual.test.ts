import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Type } from '@sinclair/typebox'
import { type Catalog, definePolicy } from '@sluice/core'
import { parse } from 'yaml'
import { formatDiagnostic } from '../diagnostic/diagnostic.js'
import { isMapping } from '../diagnostic/document-path.js'
import { loadDocument } from '../load/load-document.js'
import { readSampleFile } from '../testing/sample-catalog.js'
import { CHAPTERS, type Chapter } from './chapters.js'
import { manual, rowsOf } from './manual.js'

const FOLDER = join(import.meta.dirname, '../../manual')
const PAGE = join(import.meta.dirname, '../../../../docs/reference/configuration.md')
/** Alternatives of keys that the examples show; two of them cannot stand together. */
const SAID_IN_COMMENTS =
  /\.auth\.(username|password|apiKey)$|^upstreams\.NAME\.proxy|^state\.cluster$|^vault\.auth\.(token|tokenFile|kubernetes)|^control\.urls$/

const env = {
  CI_TOKEN_SHA256: 'a'.repeat(64),
  INVOICES_REVISION: '2026-11.3',
  ACME_KEY_SHA256: 'b'.repeat(64),
  STICKY_KEY: 'a key of sixteen characters and more',
  PROXY_PASSWORD: 'f',
  LOG_KEY: 'a key of sixteen characters and more',
  ES_API_KEY: 'c',
  VALKEY_PASSWORD: 'secret',
  CACHE_TOKEN: 'the-token-of-the-server',
  CONTROL_TOKEN: 'the-token-of-the-gateway',
  KAFKA_PASSWORD: 'g',
  WEBHOOK_TOKEN: 'd',
  WEBHOOK_SECRET: 'e',
  LOKI_TOKEN: 'g',
  TRACES_KEY: 'h',
  VAULT_SECRET_ID: 'i',
  OTLP_KEY: 'j',
}

/** The real policies are in another package, with examples and tests of their own. */
const catalog: Catalog = new Map(
  ['api-key', 'header'].map((name) => [
    name,
    definePolicy({ name, summary: '', schema: Type.Object({}), compile: () => null }),
  ]),
)

function exampleOf({ at }: Chapter): string {
  const name = at === '' ? 'document' : at.replaceAll('[]', '')
  return readFileSync(join(FOLDER, `${name}.yaml`), 'utf8')
}

/** The parts of a document that an example leaves out. */
function completed(example: unknown): object {
  assert.ok(isMapping(example))
  const shared = [{ id: 'partners', use: 'api-key' }]
  return {
    version: 1,
    upstreams: { orders: { targets: ['http://127.0.0.1:9000'] } },
    policies: shared,
    apis: { orders: {} },
    ...example,
  }
}

/** Every path that a value has, written as the rows of the manual write it. */
function pathsOf(value: unknown, path: string, known: ReadonlySet<string>): readonly string[] {
  if (Array.isArray(value))
    return [path, ...value.flatMap((item: unknown) => pathsOf(item, `${path}[]`, known))]
  if (!isMapping(value)) return [path]
  const children = Object.entries(value).flatMap(([key, child]) => {
    const named = path === '' ? key : `${path}.${key}`
    return pathsOf(child, known.has(named) ? named : `${path}.NAME`, known)
  })
  return [path, ...children]
}

test('the manual is what the schema and the examples generate', () => {
  const generated = manual(readFileSync(join(FOLDER, 'introduction.md'), 'utf8'), exampleOf)
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(PAGE, generated)
  const written = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : ''
  assert.equal(
    written,
    generated,
    'run the test with UPDATE_GOLDEN=1 to rewrite docs/reference/configuration.md',
  )
})

for (const chapter of CHAPTERS) {
  const name = chapter.at || 'the document'
  test(`the example of ${name} is a valid part of a document`, () => {
    const text = JSON.stringify(completed(parse(exampleOf(chapter))))
    const result = loadDocument(
      { text, name: 'example' },
      { catalog, env, readFile: readSampleFile, readEnd: readSampleFile },
    )
    assert.deepEqual(result.ok ? [] : result.diagnostics.map(formatDiagnostic), [])
  })

  test(`the example of ${name} shows each of its keys`, () => {
    const rows = rowsOf(chapter).map(({ path }) => path)
    const known = new Set(CHAPTERS.flatMap(rowsOf).map(({ path }) => path))
    const shown = new Set(pathsOf(parse(exampleOf(chapter)), '', known))
    const isElsewhere = (path: string) => CHAPTERS.some(({ at }) => at === path)
    const missing = rows.filter((path) => !shown.has(path) && !isElsewhere(path))
    assert.deepEqual(
      missing.filter((path) => !SAID_IN_COMMENTS.test(path)),
      [],
    )
  })
}
