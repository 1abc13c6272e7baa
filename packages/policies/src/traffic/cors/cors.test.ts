import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from '@sinclair/typebox'
import { type Exchange, headerValue, type Reply, type Step } from '@sluice/core'
import { exchange, schemaMistakes, testEnv } from '../../testing.js'
import { cors } from './policy.js'
import type { corsSchema } from './schema.js'

type CorsConfig = Static<typeof corsSchema>

const APP = 'https://app.example.com'

function compile(config: CorsConfig): Step {
  return cors.compile(config, testEnv()) as Step
}

function preflight(origin: string, fields: readonly string[] = [], method = 'PUT'): Exchange {
  const headers = ['origin', origin, 'access-control-request-method', method, ...fields]
  return exchange({ method: 'OPTIONS', headers })
}

function answerTo(config: CorsConfig, x: Exchange): Reply {
  return compile(config).onRequest!(x) as Reply
}

/** What a page of this origin gets to read: the origin that its response allows. */
function allowed(config: CorsConfig, origin: string): string | null {
  const x = exchange({ headers: ['origin', origin] })
  compile(config).onResponse!(x)
  const said = headerValue(x.responseHeaders, 'access-control-allow-origin')
  const preflighted = answerTo(config, preflight(origin))
  assert.equal(headerValue(preflighted.headers, 'access-control-allow-origin'), said)
  assert.equal(preflighted.status, said === null ? 403 : 204)
  return said
}

test('a preflight of an allowed origin gets the configured permissions', () => {
  const config = {
    origins: [APP],
    methods: ['GET', 'PUT'],
    headers: ['X-A'],
    credentials: true,
    maxAge: '90s',
  }
  const reply = answerTo(config, preflight(APP, ['access-control-request-headers', 'x-a,x-b']))
  assert.equal(reply.status, 204)
  assert.ok(reply.isSubstitute)
  assert.deepEqual(Object.fromEntries(pairs(reply.headers)), {
    'access-control-allow-origin': APP,
    'access-control-allow-credentials': 'true',
    'access-control-allow-methods': 'GET, PUT',
    'access-control-allow-headers': 'X-A',
    'access-control-max-age': '90',
    vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
  })
})

test('a preflight of another origin is refused and told nothing of the API', () => {
  const reply = answerTo({ origins: [APP], credentials: true }, preflight('https://evil.example'))
  assert.equal(reply.problem?.code, 'GW_CORS_DENIED')
  assert.doesNotMatch(reply.headers.join(), /access-control-allow|app\.example/)
  assert.match(headerValue(reply.headers, 'vary')!, /Origin/)
})

test('OPTIONS without an origin or a requested method is not a preflight', () => {
  const step = compile({ origins: ['*'] })
  for (const headers of [
    [],
    ['origin', APP],
    ['access-control-request-method', 'GET'],
    ['origin', APP, 'access-control-request-method', 'GET PUT'],
  ]) {
    assert.equal(step.onRequest!(exchange({ method: 'OPTIONS', headers })), null)
  }
  assert.equal(step.onRequest!(exchange({ headers: preflight(APP).headers })), null)
})

test('an origin that only resembles an allowed one is not allowed', () => {
  const config = {
    origins: [APP, 'https://*.shop.example', '~https://pr-\\d+\\.example\\.net', 'app://mobile'],
  }
  for (const origin of [
    APP,
    'https://a.shop.example',
    'https://a.b.shop.example',
    'https://pr-17.example.net',
    'app://mobile',
  ]) {
    assert.equal(allowed(config, origin), origin)
  }
  for (const origin of [
    'https://app.example.com.evil.org',
    'https://evil-app.example.com',
    'https://app.example.com:8443',
    'http://app.example.com',
    'https://APP.example.com',
    'https://app.example.com/',
    'https://app.example.com evil',
    `${APP}, https://evil.org`,
    'https://shop.example',
    'https://.shop.example',
    'https://evilshop.example',
    'https://evil.org/.shop.example',
    'https://evil.org#.shop.example',
    'https://evil.org?.shop.example',
    'https://user@a.shop.example',
    'https://a..shop.example',
    'https://a.shop.example.evil.org',
    'https://pr-1.example.net.evil.org',
    'https://evil.org/https://pr-1.example.net',
    'https://pr-1.example.net\nevil',
    `https://${'a.'.repeat(200)}shop.example`,
    'null',
    '*',
    '',
  ]) {
    assert.equal(allowed(config, origin), null, origin)
  }
})

test('a request with two origins is treated as having none', () => {
  const x = exchange({ headers: ['origin', APP, 'origin', APP] })
  compile({ origins: [APP] }).onResponse!(x)
  assert.deepEqual(x.responseHeaders, ['vary', 'Origin'])
})

test('null is an origin only where it is named', () => {
  assert.equal(allowed({ origins: ['null'] }, 'null'), 'null')
  assert.equal(allowed({ origins: ['https://*.example.com'] }, 'null'), null)
})

test('allowing every origin sends a star without Vary, and never with credentials', () => {
  const x = exchange({ headers: ['origin', APP] })
  compile({ origins: ['*'] }).onResponse!(x)
  assert.deepEqual(x.responseHeaders, ['access-control-allow-origin', '*'])
  for (const origin of ['*', 'null', '~.*', '~https?://.+', '~null|https://a\\.example']) {
    assert.throws(
      () => compile({ origins: [origin], credentials: true }),
      /act on behalf of your users/,
      origin,
    )
  }
})

test('the fields of the upstream are replaced, and its Vary stays', () => {
  const responseHeaders = [
    ...['Access-Control-Allow-Origin'.toLowerCase(), '*', 'vary', 'accept-encoding'],
    ...['access-control-expose-headers', 'x-secret', 'access-control-allow-credentials', 'true', 'x', 'y'],
  ]
  const x = exchange({ headers: ['origin', APP], responseHeaders: [...responseHeaders] })
  compile({ origins: [APP], exposedHeaders: ['etag'] }).onResponse!(x)
  assert.deepEqual(x.responseHeaders, [
    ...['vary', 'accept-encoding', 'x', 'y', 'vary', 'Origin'],
    ...['access-control-allow-origin', APP, 'access-control-expose-headers', 'etag'],
  ])
  const other = exchange({ responseHeaders: ['vary', 'accept, ORIGIN', ...responseHeaders.slice(0, 2)] })
  compile({ origins: [APP] }).onResponse!(other)
  assert.deepEqual(other.responseHeaders, ['vary', 'accept, ORIGIN'])
})

test('a star allows the requested headers if their names are valid', () => {
  const config = { origins: [APP], methods: ['*'], headers: ['*'], credentials: true }
  const ask = (text: string): string | null =>
    headerValue(
      answerTo(config, preflight(APP, ['access-control-request-headers', text], 'BREW')).headers,
      'access-control-allow-headers',
    )
  assert.equal(ask('x-a,  X-B'), 'x-a, X-B')
  for (const text of ['', 'x-a\r\nset-cookie: a=b', 'x-a, "b"', 'x'.padEnd(300, ',x'), 'x-ä']) {
    assert.equal(ask(text), null, text)
  }
  const reply = answerTo(config, preflight(APP, [], 'BREW'))
  assert.equal(headerValue(reply.headers, 'access-control-allow-methods'), 'BREW')
})

test('a private network is opened only when told so, and only when asked for', () => {
  const field = 'access-control-request-private-network'
  const told = (config: CorsConfig, fields: string[]): boolean =>
    answerTo(config, preflight(APP, fields)).headers.includes('access-control-allow-private-network')
  assert.equal(told({ origins: [APP], privateNetwork: true }, [field, 'true']), true)
  assert.equal(told({ origins: [APP], privateNetwork: true }, []), false)
  assert.equal(told({ origins: [APP] }, [field, 'true']), false)
})

test('an invalid origin, name or expression is rejected', () => {
  for (const origin of [
    'example.com',
    'https://app.example.com/',
    'https://App.example.com',
    'https://app.example.com:443',
    'https://user@app.example.com',
    'https://*',
    'https://*.com',
    'https://a*.example.com',
    'https://*.*.example.com',
    '*.example.com',
    'https://*.Example.com',
    'https://*.example.com/x',
    '~(',
    '~(?=a)',
    '~(a{1000}){1000}{1000}',
  ]) {
    assert.throws(() => compile({ origins: [origin] }), Error, origin)
  }
  assert.throws(() => compile({ origins: ['*'], methods: ['*', 'GET'] }), /mixes '\*' with names/)
  assert.throws(() => compile({ origins: ['*'], headers: ['x\r\ny'] }), /not a valid name/)
  assert.throws(() => compile({ origins: [APP], credentials: true, exposedHeaders: ['*'] }), /list the names/)
  assert.deepEqual(schemaMistakes(cors, { origins: [] }), ['/origins must NOT have fewer than 1 items'])
})

test('an expression that would explode takes no time', () => {
  const hostile = `https://${'a'.repeat(280)}!`
  assert.equal(allowed({ origins: ['~https://(a+)+$', '~https://(a|aa)+\\.example'] }, hostile), null)
})

function pairs(list: readonly string[]): [string, string][] {
  return list.flatMap((name, i) => (i % 2 === 0 ? [[name, list[i + 1]!] as [string, string]] : []))
}
