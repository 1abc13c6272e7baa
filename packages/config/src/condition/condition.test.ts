import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consumerOf, Exchange, NO_ROUTE } from '@sluice/core'
import type { WritableExchange } from '@sluice/core/testing'
import fc from 'fast-check'
import { ConditionError, checkCondition, compileCondition } from './index.js'

function exchange(): WritableExchange {
  const x: WritableExchange = new Exchange()
  x.method = 'GET'
  x.path = '/orders/7'
  x.host = 'api.example.com'
  x.authority = 'API.example.com:8080'
  x.query = 'version=2&name=J%C3%BCrgen+M&flag'
  x.headers = ['x-tenant', 'acme', 'accept', 'a', 'accept', 'b', 'cookie', 'sid=abc; theme=dark']
  // The servers behind read role=admin: a comma belongs to a value, and blanks to nothing.
  x.headers.push('cookie', 'list=a,role=user;role=admin; blank\t = 1', 'cookie', 'quoted="q"')
  x.params = ['7']
  x.paramNames = ['id']
  x.clientIp = '10.1.2.3'
  x.consumer = consumerOf('api-key', 'c1', {
    name: 'Acme',
    groups: ['gold', 'beta'],
    scopes: ['orders:read'],
    claims: new Map([['plan', 'gold']]),
  })
  x.status = 404
  x.responseHeaders = ['content-type', 'text/plain']
  x.setVar('seen', 'yes')
  x.claims = new Map([
    ['sub', 'ann'],
    ['level', '3'],
    ['https://example.com/org', 'acme'],
  ])
  return x
}

const CASES: readonly (readonly [string, boolean])[] = [
  ['req.method == "GET"', true],
  ['req.header["X-Tenant"] == "acme"', true],
  ['req.header.host == "API.example.com:8080"', true],
  ['req.header.accept == "a, b"', true],
  ['req.header["x-absent"] == ""', false],
  ['req.header["x-absent"] != "1"', true],
  ['req.header["x-absent"] < "z"', false],
  ['req.header["x-absent"].startsWith("")', false],
  ['size(req.header["x-absent"]) == 0', true],
  ['has(req.header.accept) && !has(req.header.nope)', true],
  ['"X-Tenant" in req.header', true],
  ['"nope" in req.query', false],
  ['req.query["name"] == "Jürgen M"', true],
  ['req.query.flag == ""', true],
  ['req.cookie.theme == "dark"', true],
  ['req.cookie.sid == "abc"', true],
  ['req.cookie.role == "admin"', true],
  ['req.cookie.blank == "1"', true],
  ['req.cookie.quoted == "q"', true],
  ['req.cookie.list == "a,role=user"', true],
  ['req.params.id == "7"', true],
  ['inCidr(client.ip, "10.0.0.0/8")', true],
  ['inCidr(client.ip, ["192.168.0.0/16", "::1"])', false],
  ['consumer.groups.exists(g, g == "gold")', true],
  ['consumer.groups.all(g, g.size() == 4)', true],
  ['size("\u{1F600}") == 1 && "a\u{1F600}b\u{1F600}".size() == 4', true],
  ['size("e\u0301") == 2 && size("\u{1F468}\u200d\u{1F469}") == 3', true],
  ['"\u{1F600}" > "\uff01" && "\uff01" < "\u{1F600}" && "ab" < "b" && "a" < "ab"', true],
  ['"\u{1F600}".matches("^.$")', true],
  ['"beta" in consumer.groups', true],
  ['"orders:read" in consumer.scopes', true],
  ['"admin" in consumer.roles', false],
  ['consumer.claims.plan == "gold"', true],
  ['"toString" in consumer.claims', false],
  ['req.method in ["GET", "HEAD"]', true],
  ['res.status >= 400 && res.status < 500', true],
  ['res.header["Content-Type"].contains("plain")', true],
  ['vars.seen == "yes"', true],
  ['jwt.claims.sub == "ann" && jwt.claims["https://example.com/org"] == "acme"', true],
  ['int(jwt.claims["level"]) > 2', true],
  ['has(jwt.claims.sub) && !("email" in jwt.claims)', true],
  ['jwt.claims["email"] == "" || jwt.claims.toString == "a"', false],
  ['req.path.matches("^/orders/[0-9]+$")', true],
  ['lower(req.header.host) == "api.example.com:8080"', true],
  ['int(req.params.id) + 1 == 8', true],
  ['7 / 2 == 3 && -7 / 2 == -3 && 7 % 4 == 3', true],
  ['-7.0 / -2.0 == 3.5 && [7.0][0] / [2.0][0] == 3.5', true],
  ['[7.0].exists(v, [2.0].all(w, v / w == 3.5)) && [7].all(v, [2].exists(w, v / w == 3))', true],
  ['(res.status == 404 ? "a" : "b") == "a"', true],
  ['req.method + req.path == "GET/orders/7"', true],
  ['int(req.header["x-tenant"]) == 1 || true', true],
  ['false && int(req.header["x-tenant"]) == 1', false],
  ['int(req.header["x-tenant"]) == 1 && false', false],
  ['1.5 < 2.0 && double("2.5") == 2.5', true],
]

for (const [text, expected] of CASES) {
  test(`${text} is ${expected}`, () => {
    assert.deepEqual({ ...checkCondition(text, 'policy'), needs: null }, { ok: true, needs: null })
    assert.equal(compileCondition(text, 'policy').test(exchange()), expected)
  })
}

const ISSUES: readonly (readonly [string, number, RegExp])[] = [
  ['req.method == 1', 0, /no such overload/],
  ['req.metod == "GET"', 4, /did you mean 'method'/],
  ['request.method == "GET"', 0, /available names/],
  ['ip == "10.0.0.1"', 0, /write client\.ip/],
  ['req.header.x-tenant == "a"', 13, /quote names that contain a hyphen/],
  ['req.method', 0, /returns string/],
  ['req.method == ', 14, /not complete/],
  ['has(req.header["x"])', 4, /in req\.header/],
  ['jwt.claim.sub == "a"', 4, /did you mean 'claims'/],
  ['jwt.claims.level > 2', 0, /no such overload/],
  ['jwt.sub == "a"', 4, /available names/],
  ['req.body == "1"', 0, /no such overload/],
  ['req.body.yaml("$.a") == "1"', 0, /functions: json, xml/],
  ['req.body.json(req.path) == "1"', 0, /must be a constant/],
  ['req.body.xml("//a", {"m": req.path}) == "1"', 0, /must be a constant/],
  ['req.path.matches(req.method)', 0, /constant/],
  ['inCidr(client.ip, "nonsense")', 0, /nonsense/],
  ['a'.repeat(5000), 0, /longer than/],
]

for (const [text, offset, expected] of ISSUES) {
  test(`${text.slice(0, 40)} is refused with its place and a remedy`, () => {
    const check = checkCondition(text, 'policy')
    assert.equal(check.ok, false)
    if (check.ok) return
    assert.match(`${check.message} (${check.remedy})`, expected)
    assert.equal(check.offset, offset)
  })
}

test('texts beside a path mean the same with and without escapes that it needs not', () => {
  const x = exchange()
  Object.assign(x, { path: '/odata/$batch', params: ['a@b'] })
  for (const [text, expected] of [
    ['req.path == "/odata/%24batch"', true],
    ['"/odata/$batch" == req.path', true],
    ['req.path != "/odata/%24batch"', false],
    ['req.path in ["/x", "/odata/%24batch"]', true],
    ['req.path.startsWith("/odata/%24")', true],
    ['req.path.matches("^/odata/[$]batch$")', true],
    ['req.params.id == "a%40b"', true],
    ['req.params["id"] in ["a%40b"]', true],
    ['req.header["x-tenant"] == "%40"', false],
  ] as const)
    assert.equal(compileCondition(text, 'policy').test(x), expected, text)
})

test('a route condition cannot know the consumer or the response', () => {
  for (const text of ['consumer.id == "a"', 'jwt.claims.sub == "a"', 'res.status == 200', 'vars.a == "b"']) {
    const check = checkCondition(text, 'route')
    assert.equal(check.ok, false)
    if (!check.ok) assert.match(check.remedy, /not available in the condition of a route/)
  }
})

test('claims are absent while no token was verified', () => {
  const x = exchange()
  x.claims = null
  assert.equal(compileCondition('jwt.claims.sub == "ann"', 'policy').test(x), false)
  assert.equal(compileCondition('has(jwt.claims.sub)', 'policy').test(x), false)
  assert.equal(compileCondition('jwt.claims.sub != "ann"', 'policy').test(x), true)
})

test('what does not depend on the request is decided once', () => {
  assert.equal(compileCondition('1 + 1 == 2', 'route').constant, true)
  assert.equal(compileCondition('false && req.method == "GET"', 'route').constant, false)
  assert.equal(compileCondition('req.method == "GET" || true', 'route').constant, true)
  assert.equal(compileCondition('env.STAGE == "prod"', 'route', { env: { STAGE: 'prod' } }).constant, true)
  assert.equal(compileCondition('env.MISSING == "prod"', 'route', { env: {} }).constant, false)
  assert.equal(compileCondition('req.method == "GET"', 'route').constant, null)
})

test('a condition says whether it needs the response', () => {
  assert.equal(compileCondition('res.status == 200', 'policy').needs.response, true)
  assert.equal(compileCondition('upstream.status == 200', 'policy').needs.response, true)
  assert.equal(compileCondition('upstream.name == "a"', 'policy').needs.response, false)
})

test('values that make no sense raise a ConditionError and nothing else', () => {
  const x = exchange()
  const numbers = ['0x7', '1_0', ' 7', '', '0b1', 'Infinity', 'NaN', '1e400', '+-1'].map(
    (text) => `int("${text}" + req.header["x-absent"]) == 1`,
  )
  for (const text of [
    ...numbers,
    'int(req.method) == 1',
    '1 / (res.status - 404) == 1',
    'consumer.groups[9] == "a"',
  ]) {
    assert.throws(() => compileCondition(text, 'policy').test(x), ConditionError)
  }
})

test('no text makes the checker throw', () => {
  const word = fc.constantFrom(
    'req',
    '.',
    'header',
    '["x"]',
    '==',
    '"a"',
    '&&',
    '(',
    ')',
    '!',
    '1',
    'in',
    '[',
    ']',
    'has',
    'matches',
    '?',
    ':',
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(word, { maxLength: 20 }).map((words) => words.join(' ')),
      ),
      (text) => {
        const check = checkCondition(text, 'policy')
        if (check.ok) compileCondition(text, 'policy')
      },
    ),
    { numRuns: 500 },
  )
})

test('the condition of a log target asks how an exchange ended, and no body', () => {
  const x = exchange()
  x.result = 'blocked'
  const api = { name: 'sales', group: 'shop', revision: null }
  x.route = { ...NO_ROUTE, id: 'orders', api }
  x.errorCode = 'GW_POLICY_REFUSED'
  x.errorPolicy = 'only-us'
  x.startedMono = 10
  x.endedMono = 1510.75
  const cases: readonly (readonly [string, boolean])[] = [
    ['result == "blocked" && route in ["orders", "lines"]', true],
    ['api.name == "sales" && api.group == "shop" && api.revision == ""', false],
    ['!has(api.revision)', true],
    ['error.code.startsWith("GW_") && error.policy == "only-us"', true],
    ['t.total > 1000 && t.total < 1511', true],
    ['["error", "shed"].exists(result, result == "shed")', true],
    ['res.status >= 500', false],
  ]
  for (const [text, expected] of cases) assert.equal(compileCondition(text, 'record').test(x), expected, text)
  for (const scope of ['route', 'policy'] as const)
    assert.equal(checkCondition('result == "error"', scope).ok, false)
  assert.equal(checkCondition('req.body.json("$.a") == 1', 'record').ok, false)
})
