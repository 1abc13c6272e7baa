import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RoutePlan } from '@sluice/config'
import { canonicalPath, Exchange } from '@sluice/core'
import { setFields } from '@sluice/core/testing'
import fc from 'fast-check'
import { compilePrefix, compileRegexRewrite, compileTemplate } from './path-template.js'

function exchange(path: string, params: Readonly<Record<string, string>> = {}): Exchange {
  return Object.assign(new Exchange(), {
    path,
    paramNames: Object.keys(params),
    params: Object.values(params),
  })
}

const MATCHED = {
  text: '/o/{id}/{line}',
  kind: 'template',
  segments: [
    { kind: 'literal', text: 'o' },
    { kind: 'param', name: 'id' },
    { kind: 'param', name: 'line' },
  ],
} as const

function prefixed(depth: number, prefix: string): (path: string) => string {
  const segments = Array.from({ length: depth }, () => ({ kind: 'literal', text: 'x' }))
  const rewrite = compilePrefix({ match: { path: { segments } } } as unknown as RoutePlan, prefix)
  return (path) => rewrite(exchange(path))
}

test('a template inserts parameters by name', () => {
  const x = exchange('/o/7/a%2Fb', { id: '7', line: 'a%2Fb' })
  setFields(x, { rawPath: x.path })
  assert.equal(compileTemplate('/v2/{line}/{id}/{id}', MATCHED)(x), '/v2/a%2Fb/7/7')
  assert.equal(compileTemplate('{id}', MATCHED)(x), '7')
  assert.equal(compileTemplate('/v2', MATCHED)(x), '/v2')
  assert.equal(compileTemplate('/{absent}/x', MATCHED)(x), '//x')
})

test('a template inserts parameters with their original escapes', () => {
  const x = Object.assign(exchange('/o/a+b/c@d', { id: 'a+b', line: 'c@d' }), {
    rawPath: '/o;v=1/%61%2bb;w/c%40d',
  })
  assert.equal(compileTemplate('/v2/{id}/{line}', MATCHED)(x), '/v2/a%2Bb/c%40d')
})

test('a prefix replaces the matched segments', () => {
  assert.equal(prefixed(1, '/v2')('/orders/7'), '/v2/7')
  assert.equal(prefixed(1, '/v2/')('/orders/7'), '/v2/7')
  assert.equal(prefixed(2, '/v2')('/a/b/c/'), '/v2/c/')
  assert.equal(prefixed(1, '/v2')('/orders'), '/v2')
  assert.equal(prefixed(1, '/v2')('/orders/'), '/v2/')
  assert.equal(prefixed(0, '/v2')('/orders'), '/v2/orders')
})

test('a prefix keeps the path parameters of the rest', () => {
  const x = Object.assign(exchange('/orders/7/lines'), { rawPath: '/orders;v=1/7;w=2//lines' })
  const rewrite = (depth: number): string => {
    const segments = Array.from({ length: depth }, () => ({ kind: 'literal', text: 'x' }))
    return compilePrefix({ match: { path: { segments } } } as unknown as RoutePlan, '/v2')(x)
  }
  assert.equal(rewrite(1), '/v2/7;w=2/lines')
  x.rawPath = '/;v=1/orders/7/lines'
  assert.equal(rewrite(1), '/v2/7/lines')
})

test('a regular expression matches either form of the path and keeps escapes where possible', () => {
  const rewrite = compileRegexRewrite('^/\\$batch/(.*)$', '/b/$1')
  const sent = (rawPath: string): string =>
    rewrite(Object.assign(exchange(canonicalPath(rawPath)!), { rawPath }))
  assert.equal(sent('/$batch/a%2Bb'), '/b/a%2Bb')
  assert.equal(sent('/%24batch/a%40b'), '/b/a@b')
  assert.equal(sent('/other;v=1/a%40b'), '/other;v=1/a%40b')
})

test('a prefix of "/" removes the matched segments', () => {
  assert.equal(prefixed(1, '/')('/orders/7'), '/7')
  assert.equal(prefixed(1, '/')('/orders'), '/')
  assert.equal(prefixed(0, '/')('/'), '/')
})

test('the new path begins with "/" and is canonical again, whatever the old one was', () => {
  const path = fc
    .array(fc.constantFrom('a', 'b%2F', '~'), { maxLength: 5 })
    .map((parts) => `/${parts.join('/')}`)
  fc.assert(
    fc.property(path, fc.nat(3), fc.constantFrom('/', '/v', '/v/', '/v/w'), (old, depth, prefix) => {
      const made = prefixed(depth, prefix)(old)
      assert.equal(canonicalPath(made), made, `${old} with ${prefix}`)
    }),
  )
})

test('an expression rewrites the canonical path, and an invalid result is not sent', () => {
  const rewrite = compileRegexRewrite('^/u/(\\d+)$', '/users/$1')
  assert.equal(rewrite(exchange('/u/7')), '/users/7')
  assert.equal(rewrite(exchange('/u/x')), '/u/x')
  assert.equal(compileRegexRewrite('^/a', '//b/../c')(exchange('/a/d')), '/a/d')
  assert.equal(compileRegexRewrite('^/a', '//b')(exchange('/a/d')), '/b/d')
  for (const replacement of ['x', '/a b', '/x?y=1', '/%', '/é'])
    assert.equal(compileRegexRewrite('^/a$', replacement)(exchange('/a')), '/a', replacement)
})

test('a path cannot escape the folder that an expression maps it to', () => {
  const alias = compileRegexRewrite('^/files(.*)$', '/public/$1')
  const cut = compileRegexRewrite('-v1', '')
  for (const path of ['/files../admin', '/files..;/admin', '/files..;x', '/files..%2Fadmin', '/files.%5Ca'])
    assert.equal(alias(exchange(path)), path.replace(';x', '').replace(';', ''))
  for (const path of ['/public/.-v1./admin', '/public/..-v1/admin', '/public/.-v1.%2Fadmin', '/public/-v1..'])
    assert.equal(cut(exchange(path)), path)
  assert.equal(alias(exchange('/files/a..b')), '/public/a..b')
})
