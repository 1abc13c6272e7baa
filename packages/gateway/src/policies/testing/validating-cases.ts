import { type CaseStep, DATE, FRESH, lines, type ReplyField, type Sent } from './storing-cases.js'

/**
 * Cases of conditional requests, validation, invalidation and request directives, named as in the public HTTP cache
 * test suite.
 */
export const validatingCases = new Map<string, readonly CaseStep[]>()
const cases = validatingCases

// Conditions.
const ETAG: readonly ReplyField[] = [...FRESH, ['etag', '"abcdef"']]
const condition = (
  id: string,
  reply: readonly ReplyField[],
  send: Sent,
  more: Partial<CaseStep> = {},
): void => void cases.set(id, [{ reply }, { send, expect: 'hit', wantStatus: 304, ...more }])
condition('conditional-etag-strong-respond', ETAG, { 'if-none-match': '"abcdef"' })
condition('conditional-304-etag', ETAG, { 'if-none-match': '"abcdef"' }, { want: [['etag', '"abcdef"']] })
condition('conditional-etag-weak-respond', [...FRESH, ['etag', 'W/"abcdef"']], {
  'if-none-match': 'W/"abcdef"',
})
condition('conditional-etag-strong-respond-multiple-first', ETAG, { 'if-none-match': '"abcdef", "1", "2"' })
condition('conditional-etag-strong-respond-multiple-second', ETAG, { 'if-none-match': '"1", "abcdef", "2"' })
condition('conditional-etag-strong-respond-multiple-last', ETAG, { 'if-none-match': '"1", "2", "abcdef"' })
const NOW = 'Thu, 18 Aug 2050 02:01:18 GMT'
const MODIFIED: readonly ReplyField[] = [...lines('max-age=100000'), ['last-modified', -3000], DATE]
condition('conditional-etag-precedence', [...MODIFIED, ['etag', '"abcdef"']], {
  ...{ 'if-none-match': '"abcdef"', 'if-modified-since': 'Thu, 01 Jan 1970 00:00:01 GMT' },
})
condition('conditional-lm-fresh', MODIFIED, { 'if-modified-since': NOW })
condition('conditional-lm-fresh-rfc850', MODIFIED, {
  'if-modified-since': 'Thursday, 18-Aug-50 02:01:18 GMT',
})
const becomesStale = (id: string, field: ReplyField, expect: 'etag' | 'lm', send: Sent = {}): void =>
  void cases.set(id, [
    { send, reply: [...lines('max-age=2'), field, DATE, ['vary', 'Abc']], waits: true },
    { send, expect, reply: [field] },
  ])
becomesStale('conditional-etag-strong-generate', ['etag', '"abcdef"'], 'etag')
becomesStale('conditional-etag-weak-generate-weak', ['etag', 'W/"abcdef"'], 'etag')
becomesStale('conditional-etag-vary-headers', ['etag', '"abcdef"'], 'etag', { abc: '123' })
becomesStale('conditional-lm-generate', ['last-modified', -3000], 'lm')
cases.set('conditional-lm-stale', [
  { reply: [...lines('max-age=2'), ['last-modified', -3000], DATE], waits: true },
  { send: { 'if-modified-since': NOW }, expect: 'lm', wantStatus: 304 },
])
cases.set('conditional-etag-vary-headers-mismatch', [
  { send: { abc: '1' }, reply: [...ETAG, ['vary', 'Abc']] },
  { send: { abc: '2' }, expect: 'miss' },
])

// Headers that a 304 response updates.
const RARE = [
  ['test-header', 'a', 'b'],
  ['x-test-header', 'a', 'b'],
  ['content-foo', 'a', 'b'],
  ['x-content-foo', 'a', 'b'],
  ['cache-control', 'max-age=1', 'max-age=3600'],
  ['content-location', '/foo', '/bar'],
  ['content-md5', 'rL0Y20zC+Fzt72VPzMSk2A==', 'N7UdGUp1E+RbVvZSTy1R8g=='],
  ['content-digest', 'sha-256=:rL0Y20zC+A==:', 'sha-256=:N7UdGUp1EQ==:'],
  ['repr-digest', 'sha-256=:rL0Y20zC+A==:', 'sha-256=:N7UdGUp1EQ==:'],
  ['content-security-policy', "default-src 'self'", "default-src 'self' a.example"],
  ['content-type', 'text/plain', 'text/plain;charset=utf-8'],
  ['clear-site-data', 'cache', 'cookies'],
  ['expires', 'Fri, 01 Jan 2038 01:01:01 GMT', 'Mon, 11 Jan 2038 11:11:11 GMT'],
  ['public-key-pins', 'a', 'b'],
  ['set-cookie', 'a=b', 'a=c'],
  ['set-cookie2', 'a=b', 'a=c'],
  ['x-frame-options', 'deny', 'sameorigin'],
  ['x-xss-protection', '1', '1; mode=block'],
] as const
/** Headers that describe the stored bytes, so a 304 response does not update them. */
const OF_BYTES: ReadonlySet<string> = new Set(['content-md5', 'content-digest', 'repr-digest'])
cases.set('304-lm-use-stored-Test-Header', [
  { reply: [...lines('max-age=2'), ['last-modified', -86_400], ['test-header', 'a']], waits: true },
  { expect: 'lm', reply: [['last-modified', -86_400]], want: [['test-header', 'a']] },
])
for (const [name, before, after] of RARE) {
  for (const [kind, validator, expect] of [
    ['etag', ['etag', '"v"'], 'etag'],
    ['lm', ['last-modified', 'Wed, 01 Jan 2020 00:00:00 GMT'], 'lm'],
  ] as const) {
    const age = (seconds: number): ReplyField[] =>
      name === 'cache-control' ? [] : lines(`max-age=${seconds}`)
    const want = [[name, OF_BYTES.has(name) ? before : after]] as const
    cases.set(`304-${kind}-update-response-${name}`, [
      { reply: [...age(2), DATE, validator, [name, before]], waits: true },
      { expect, reply: [...age(3600), DATE, validator, [name, after]], want },
      { expect: 'hit', want },
    ])
  }
}
for (const [name, , value] of RARE) {
  const age = name === 'cache-control' ? [] : lines('max-age=3600')
  cases.set(`headers-store-${name}`, [
    { reply: [...age, DATE, [name, value]] },
    { expect: 'hit', want: [[name, value]] },
  ])
}
for (const name of [
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'upgrade',
]) {
  cases.set(`headers-store-${name}`, [
    { reply: [...FRESH, [name, 'stored']] },
    { expect: 'hit', missing: [name] },
  ])
}
cases.set('headers-omit-headers-listed-in-Connection', [
  { reply: [...FRESH, ['connection', 'a, b'], ['a', '1'], ['b', '2'], ['c', '3']] },
  { expect: 'hit', want: [['c', '3']], missing: ['a', 'b'] },
])

// Invalidation.
for (const method of ['POST', 'PUT', 'DELETE', 'M-SEARCH']) {
  cases.set(`invalidate-${method}`, [{ reply: FRESH }, { method }, { expect: 'miss' }])
  cases.set(`invalidate-${method}-failed`, [{ reply: FRESH }, { method, status: 500 }, { expect: 'hit' }])
  for (const [name, field] of [
    ['location', 'location'],
    ['cl', 'content-location'],
  ] as const) {
    const path = `/${field}-target-${method}`
    cases.set(`invalidate-${method}-${name}`, [
      { path, reply: FRESH },
      { method, reply: [[field, path]] },
      { path, expect: 'miss' },
    ])
  }
}

// Credentials, cookies and the rest.
const authorized = (id: string, reply: readonly ReplyField[], expect: 'hit' | 'miss'): void =>
  void cases.set(id, [{ send: { authorization: 'FOO' }, reply, waits: true }, { expect }])
authorized('other-authorization', [['expires', 30 * 86_400], DATE], 'miss')
authorized('other-authorization-public', lines('max-age=3600, public'), 'hit')
authorized('other-authorization-must-revalidate', lines('max-age=3600, must-revalidate'), 'hit')
authorized('other-authorization-smaxage', lines('s-maxage=3600'), 'hit')
const aged = (id: string, reply: readonly ReplyField[], minAge: number): void =>
  void cases.set(id, [
    { reply: [...reply, DATE], waits: true },
    { expect: 'hit', minAge },
  ])
aged('other-age-gen', [['expires', 30 * 86_400]], 2)
aged(
  'other-age-update-expires',
  [
    ['expires', 30 * 86_400],
    ['age', '30'],
  ],
  32,
)
aged('other-age-update-max-age', [...lines('max-age=600'), ['age', '30']], 32)
cases.set('other-set-cookie', [
  { reply: [...lines('max-age=3600'), ['set-cookie', 'a=b']] },
  { expect: 'hit' },
])
cases.set('other-cookie', [{ reply: lines('max-age=3600') }, { send: { cookie: 'a=b' }, expect: 'hit' }])
cases.set('query-args-different', [
  { path: '/query?test=1', reply: FRESH },
  { path: '/query?test=2', expect: 'miss' },
])
cases.set('query-args-same', [
  { path: '/query?test=3', reply: FRESH },
  { path: '/query?test=3', expect: 'hit' },
])
for (const [name, range, text] of [
  ['', 'bytes=0-1', '01'],
  ['-no-last', 'bytes=1-', '1234567890'],
  ['-suffix', 'bytes=-1', '0'],
] as const) {
  cases.set(`partial-store-complete-reuse-partial${name}`, [
    { reply: lines('max-age=3600'), body: '01234567890' },
    { send: { range }, expect: 'hit', wantStatus: 206, body: text },
  ])
}

// Directives of requests.
const asked = (id: string, reply: readonly ReplyField[], value: string, expect: CaseStep['expect']): void =>
  void cases.set(id, [
    { reply, waits: true },
    { send: { 'cache-control': value }, expect: expect! },
  ])
asked('ccreq-ma0', FRESH, 'max-age=0', 'miss')
asked('ccreq-ma1', FRESH, 'max-age=1', 'miss')
asked('ccreq-magreaterage', [...lines('max-age=3600'), ['age', '1800']], 'max-age=600', 'miss')
asked('ccreq-max-stale', [...lines('max-age=1'), ['etag', '"a"']], 'max-stale=1000', 'hit')
asked('ccreq-min-fresh', lines('max-age=1500'), 'min-fresh=2000', 'miss')
asked('ccreq-min-fresh-age', [...lines('max-age=1500'), ['age', '1000']], 'min-fresh=1000', 'miss')
asked('ccreq-no-cache', lines('max-age=3600'), 'no-cache', 'miss')
asked('ccreq-no-store', lines('max-age=3600'), 'no-store', 'miss')
asked('ccreq-no-cache-etag', [...lines('max-age=3600'), ['etag', '"a"']], 'no-cache', 'etag')
cases.set('ccreq-oic', [{ send: { 'cache-control': 'only-if-cached' }, wantStatus: 504 }])
