import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { stringify } from 'yaml'
import { displayPlan } from '../compare/display-plan.js'
import { resolvePlan } from '../resolve/resolve-plan.js'
import { documentSchema } from '../schema/document.js'
import { readSampleFile, SAMPLE_CATALOG, SAMPLE_ENV } from '../testing/sample-catalog.js'
import { loadDocument } from './load-document.js'

/** Loads, and holds every outcome against what is promised about it. */
function loadAndCheck(text: string): void {
  const result = loadDocument(
    { text, name: 'fuzz.yaml' },
    { catalog: SAMPLE_CATALOG, env: SAMPLE_ENV, readFile: readSampleFile, readEnd: readSampleFile },
  )
  const lines = text.split('\n').length
  const diagnostics = result.ok ? result.warnings : result.diagnostics
  assert.ok(result.ok || diagnostics.some(({ severity }) => severity === 'error'), 'a refusal says why')
  for (const diagnostic of diagnostics) {
    assert.ok(diagnostic.line >= 1 && diagnostic.line <= lines + 1, `line ${diagnostic.line}`)
    assert.ok(diagnostic.column >= 1 && diagnostic.message !== '' && diagnostic.remedy !== '')
  }
  if (!result.ok) return
  resolvePlan(result.bundle)
  displayPlan(result.bundle.plan, SAMPLE_CATALOG)
  assert.deepEqual(JSON.parse(JSON.stringify(result.bundle.plan)), result.bundle.plan)
}

test('no text makes loading throw', () => {
  const piece = fc.constantFrom(
    'version: 1',
    '\n',
    '  ',
    '- ',
    ': ',
    '{',
    '}',
    '[',
    ']',
    '*a',
    '&a ',
    '"',
    "'",
    '#',
    '|',
    '>',
    '\t',
    '%',
    '---',
    '!!',
    '${env:PORT}',
    '${',
  )
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), loadAndCheck), { numRuns: 300 })
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => loadAndCheck(pieces.join(''))),
    { numRuns: 500 },
  )
})

test('no structure makes loading throw', () => {
  const key = fc.oneof(
    fc.constantFrom(
      ...Object.keys(documentSchema.properties),
      'id',
      'match',
      'path',
      'upstream',
      'use',
      'with',
      'targets',
      'url',
    ),
    fc.string({ maxLength: 5 }),
  )
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.jsonValue({ maxDepth: 0 }),
      fc.array(tie('value'), { maxLength: 4 }),
      tie('mapping'),
    ),
    mapping: fc.dictionary(key, tie('value'), { maxKeys: 5 }),
  }))
  fc.assert(
    fc.property(value, (document) => loadAndCheck(JSON.stringify(document) ?? '')),
    { numRuns: 500 },
  )
})

const FOLDER = fileURLToPath(new URL('../../golden/', import.meta.url))
const DOCUMENTS = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.plan.json'))
  .map((file) => readFileSync(`${FOLDER}${file.replace('.plan.json', '.yaml')}`, 'utf8'))

test('a valid document with characters changed loads or is refused with positions', () => {
  const change = fc.record({
    at: fc.double({ min: 0, max: 0.999, noNaN: true }),
    drop: fc.nat(8),
    put: fc.oneof(
      fc.string({ maxLength: 3 }),
      fc.constantFrom('\n', '{', ']', ': ', '- ', '*', '0', 'null', ''),
    ),
  })
  fc.assert(
    fc.property(
      fc.constantFrom(...DOCUMENTS),
      fc.array(change, { minLength: 1, maxLength: 3 }),
      (text, changes) => {
        const changed = changes.reduce((before, { at, drop, put }) => {
          const offset = Math.floor(at * before.length)
          return before.slice(0, offset) + put + before.slice(offset + drop)
        }, text)
        loadAndCheck(changed)
      },
    ),
    { numRuns: 500 },
  )
})

test('a valid document with a value changed loads or is refused with positions', () => {
  const replacement = fc.oneof(
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom(
      '',
      ' ',
      0,
      -1,
      1e21,
      '5s',
      '1mb',
      '*',
      '/',
      '~(',
      'a'.repeat(5000),
      '${env:SECRET}',
      '${env:NO}',
      '$${',
    ),
  )
  const examples = DOCUMENTS.map((text) => text)
  fc.assert(
    fc.property(fc.constantFrom(...examples), fc.nat(), replacement, (text, position, value) => {
      const lines = text.split('\n')
      const line = lines[position % lines.length]!
      const at = line.indexOf(': ')
      if (at === -1) return
      lines[position % lines.length] =
        line.slice(0, at + 2) + stringify(value, { collectionStyle: 'flow' }).trimEnd()
      loadAndCheck(lines.join('\n'))
    }),
    { numRuns: 500 },
  )
})
