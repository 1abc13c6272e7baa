import assert from 'node:assert/strict'
import { test } from 'node:test'
import { httpDate } from '@sluice/core'
import fc from 'fast-check'
import CachePolicy from 'http-cache-semantics'
import { CacheControl } from '../../shared/message/cache-control.js'
import { type Freshness, freshnessOf, type StoringRules } from './freshness.js'

const RULES: StoringRules = {
  forced: null,
  isHeuristic: true,
  keepsAuthorized: true,
  keepsSetCookie: true,
  targetedFields: [],
  staleWhileRevalidateMs: 0,
  staleIfErrorMs: 0,
}
const NOW = Date.UTC(2030, 0, 1)

function freshness(status: number, headers: readonly string[], isAuthorized = false): Freshness | null {
  const at = headers.indexOf('date')
  const date = at < 0 ? null : headers[at + 1]!
  return freshnessOf({ status, headers, date, isAuthorized, requestedAt: NOW, receivedAt: NOW }, RULES)
}

const httpDateAt = (seconds: number): string => new Date(NOW + seconds * 1000).toUTCString()
const seconds = fc.constantFrom(0, 1, 10, 59, 3600)
/**
 * Directives, except those that the other implementation treats as always revalidate, even for fresh
 * responses.
 */
const directive = fc.oneof(
  ...['public', 'private', 'no-store', 'no-cache', 'immutable', 'x=1'].map((word) => fc.constant(word)),
  seconds.map((value) => `max-age=${value}`),
  seconds.map((value) => `s-maxage=${value}`),
)
const responses = fc.record({
  status: fc.constantFrom(200, 203, 204, 301, 302, 307, 308, 404, 405, 410, 414, 501),
  directives: fc.uniqueArray(directive, { maxLength: 4, selector: (word) => word.split('=')[0]! }),
  expires: fc.option(fc.constantFrom(-100, 0, 5, 5000), { nil: null }),
  modified: fc.option(fc.constantFrom(-10, -1000, -1_000_000), { nil: null }),
  age: fc.option(fc.constantFrom(0, 30, 4000), { nil: null }),
  isAuthorized: fc.boolean(),
  ageSeconds: fc.constantFrom(0, 2, 15, 100, 10_000),
})

test('freshness agrees with another implementation of RFC 9111', () => {
  let fresh = 0
  fc.assert(
    fc.property(responses, ({ status, directives, expires, modified, age, isAuthorized, ageSeconds }) => {
      const fields: Record<string, string> = { date: httpDateAt(0) }
      if (directives.length > 0) fields['cache-control'] = directives.join(', ')
      if (expires !== null) fields.expires = httpDateAt(expires)
      if (modified !== null) fields['last-modified'] = httpDateAt(modified)
      if (age !== null) fields.age = String(age)
      const ours = freshness(status, Object.entries(fields).flat(), isAuthorized)
      if (ours === null) return
      const isFresh = !ours.isAlwaysValidated && ours.initialAgeMs + ageSeconds * 1000 < ours.lifetimeMs
      if (!isFresh) return
      fresh++
      const headers = { host: 'a', ...(isAuthorized && { authorization: 'x' }) }
      const request = { method: 'GET', url: '/', headers }
      const theirs = new CachePolicy(
        request,
        { status, headers: fields },
        { shared: true, ignoreCargoCult: false },
      )
      Object.assign(theirs, { now: () => NOW + ageSeconds * 1000, _responseTime: NOW })
      if (!theirs.storable()) assert.fail(`${status} ${JSON.stringify(fields)} is not storable`)
      assert.ok(
        theirs.satisfiesWithoutRevalidation(request),
        `${status} ${JSON.stringify(fields)} at ${ageSeconds}`,
      )
    }),
    { numRuns: 3000 },
  )
  assert.ok(fresh > 100, `${fresh} were fresh`)
})

test('directives are read correctly, and cautiously if ambiguous', () => {
  const read = (text: string, name: string) => new CacheControl(text).seconds(name)
  assert.equal(read('max-age=10', 'max-age'), 10)
  assert.equal(read('MAX-AGE="10"', 'max-age'), 10)
  assert.equal(read('max-age=100, max-age=5', 'max-age'), 5)
  assert.equal(read('max-age=99999999999999999999', 'max-age'), 2 ** 31)
  for (const text of [
    'max-age',
    'max-age=',
    'max-age=-1',
    'max-age=1.5',
    'max-age= 9',
    'max-age =9',
    "max-age='9'",
    'max-age=9; x',
  ]) {
    assert.equal(read(text, 'max-age'), 0, text)
  }
  assert.equal(read('ext="max-age=9"', 'max-age'), null)
  assert.equal(read('ext="a\\", max-age=9', 'max-age'), null, 'an open quote takes the rest')
  assert.equal(new CacheControl('ext="a\\"", no-store').has('no-store'), true)
  assert.deepEqual(new CacheControl('no-cache="A, b"').fieldsOf('no-cache'), ['a', 'b'])
  assert.equal(new CacheControl('no-cache="a"').hasWhole('no-cache'), false)
  assert.equal(new CacheControl('no-cache="a"; x').hasWhole('no-cache'), true)
  assert.equal(new CacheControl('ext="a; no-store"').has('no-store'), false)
  assert.equal(new CacheControl(null).has(''), false)
})

test('any text can be parsed, and only RFC 9110 dates are accepted', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), (text) => void new CacheControl(text).seconds('max-age')),
  )
  const long = `${'a="'.repeat(30_000)},${'\\'.repeat(30_000)}`
  assert.equal(new CacheControl(long).has('b'), false)
  const expected = Date.UTC(1994, 10, 6, 8, 49, 37)
  for (const text of [
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
  ])
    assert.equal(httpDate(text), expected, text)
  for (const text of [
    '',
    '0',
    'Sun, 31 Feb 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:00:00 GMT',
    '1994-11-06T08:49:37Z',
  ])
    assert.equal(httpDate(text), null, text)
})

test('a forced response has its fixed lifetime, and overrides no-store only if configured', () => {
  const forced = { ttlMs: 5000, statuses: new Set([200]), overridesRefusal: false }
  const facts = { date: null, isAuthorized: false, requestedAt: NOW, receivedAt: NOW }
  const of = (headers: readonly string[], rules: Partial<StoringRules> = {}, status = 200) =>
    freshnessOf({ ...facts, status, headers }, { ...RULES, forced, ...rules })?.lifetimeMs
  assert.equal(of([]), 5000)
  assert.equal(of(['cache-control', 'max-age=0, no-cache', 'expires', '0']), 5000)
  assert.equal(of([], {}, 404), undefined)
  assert.equal(of(['cache-control', 'no-store']), undefined)
  assert.equal(of(['cache-control', 'private'], { forced: { ...forced, overridesRefusal: true } }), 5000)
  assert.equal(of(['vary', '*'], { forced: { ...forced, overridesRefusal: true } }), undefined)
  assert.equal(of(['set-cookie', 'a=b'], { keepsSetCookie: false }), undefined)
})
