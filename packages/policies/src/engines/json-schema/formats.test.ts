import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type DialectOptions, openDialect } from './dialect.js'
import { DRAFTS } from './draft.js'
import { findViolations } from './violations.js'

const OPTIONS: DialectOptions = {
  formats: true,
  coerce: false,
  removeAdditional: false,
  applyDefaults: false,
  allErrors: true,
}

/** Fragments of addresses, dates, names and patterns, from which texts are generated. */
const PIECES = (
  'http:// https:// urn: mailto: //[ ] [V1.fe] [v1. [::1] [::ffff:1.2.3.4] 1.2.3.4 :99999 xn-- xn--a xn--99999 xn--- ' +
  '%zz %C3 %00 @ " \\ \\@ .. . - _ ~ ^ | { } {/x* {+ } 2024-02-30 T25:61:61 Z +99:99 P1Y PT 1e999 -0 0x ( [ [z-a] (?<n> \\k<n> ' +
  '\\u{ \\p{ * + ? $ # / /~2 ä ß 例え 。 ． \u0378 \u200d \ud800 \udfff \0 \u2028 \ufeff 😀 '
).split(' ')

const text = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }).map((pieces) => pieces.join('')),
  fc.string({ unit: 'binary', maxLength: 40 }),
)

for (const draft of DRAFTS) {
  test(`no format of draft ${draft} throws, whatever the text`, async () => {
    const ajv = await openDialect(draft, OPTIONS, false)
    const names = Object.keys(ajv.formats)
    assert.ok(names.includes('iri') && names.length > 25, names.join())
    const checks = names.map((format) => ajv.compile({ type: ['string', 'number'], format }))
    const value = fc.oneof(text, fc.double())
    fc.assert(
      fc.property(value, (one) => {
        for (const [i, check] of checks.entries()) assert.ok(typeof check(one) === 'boolean', names[i])
      }),
      { numRuns: 1000 },
    )
    for (const long of [
      'a'.repeat(100_000),
      '['.repeat(100_000),
      'xn--'.repeat(50_000),
      `http://${'@'.repeat(90_000)}`,
    ]) {
      for (const check of checks) check(long)
    }
  })
}

test('an address with a host that the library cannot read has no format', async () => {
  const ajv = await openDialect('2020-12', OPTIONS, false)
  const check = ajv.compile({ properties: { u: { format: 'iri' } } })
  const words = { location: 'body', most: 10 }
  assert.deepEqual(findViolations(check, { u: 'http://[V1.fe]/' }, words), ['body/u must match format "iri"'])
  assert.deepEqual(findViolations(check, { u: 'http://example.com/ä' }, words), [])
})

test('a check that throws is a violation', () => {
  const failing = Object.assign(
    () => {
      throw new TypeError('x is undefined')
    },
    { errors: null },
  )
  const words = { location: 'body', most: 10 }
  assert.deepEqual(findViolations(failing as never, {}, words), ['body cannot be checked'])
})
