import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Static } from '@sinclair/typebox'
import { CheckFailure, type Eventual, type Exchange, type Outcome, type Reply, type Step } from '@sluice/core'
import { exchange, schemaMistakes, testEnv } from '../../testing.js'
import { contentFilter } from './policy.js'
import type { contentFilterSchema, RuleConfig } from './schema.js'

type ContentFilterConfig = Static<typeof contentFilterSchema>

const JSON_TYPE = ['content-type', 'application/json']

function compile(config: ContentFilterConfig): Step {
  return contentFilter.compile(config, testEnv()) as Step
}

function rule(pattern: string, more: Partial<RuleConfig> = {}): ContentFilterConfig {
  return { rules: [{ name: 'r', pattern, ...more }] }
}

function now(outcome: Eventual | undefined): Outcome {
  assert.ok(!(outcome instanceof Promise))
  return outcome ?? null
}

function head(config: ContentFilterConfig, x: Exchange): Outcome {
  return now(compile(config).onRequest!(x))
}

function code(outcome: Outcome): string {
  return outcome?.problem?.code ?? ''
}

/** What is left of a request body. */
function sent(config: ContentFilterConfig, body: string | Buffer, type = 'application/json'): string {
  const x = exchange({ headers: ['content-type', type], body: Buffer.from(body) })
  const outcome = now(compile(config).onRequestBody!(x, x.body!))
  return outcome === null ? Buffer.from(x.body!).toString() : code(outcome)
}

test('a block rule is named in the log, not in the response', () => {
  const x = exchange({ query: 'q=a+secret+word' })
  const reply = head({ rules: [{ name: 'no-secrets', pattern: 'secret word', targets: ['query'] }] }, x)
  assert.equal(reply?.status, 403)
  assert.equal(code(reply), 'GW_CONTENT_BLOCKED')
  assert.doesNotMatch(JSON.stringify(reply), /no-secrets|secret/)
  assert.equal(x.vars?.get('content-filter.rule'), 'no-secrets')
})

test('a message that cannot be scanned because of an error does not pass, whatever onError says', async () => {
  const failing = { ...testEnv(), offload: () => ({ run: () => Promise.reject(new Error('thread broke')) }) }
  const step = contentFilter.compile(rule('evil', { targets: ['path', 'body'] }), failing) as Step
  const broken = Object.defineProperty(exchange(), 'rawPath', {
    get: () => assert.fail('memory access out of bounds'),
  })
  assert.throws(() => step.onRequest!(broken), CheckFailure)
  const body = Buffer.alloc(100_000, 'a')
  const x = exchange({ headers: ['content-type', 'text/plain'], body })
  await assert.rejects(async () => step.onRequestBody!(x, body), CheckFailure)
})

test('only the configured targets are scanned', () => {
  const locations: Record<string, Partial<Exchange>> = {
    path: { rawPath: '/a/evil' },
    query: { query: 'a=1&b=evil' },
    cookie: { headers: ['cookie', 'a=1; b=evil'] },
    'header:*': { headers: ['x-b', 'evil'] },
    'header:X-A': { headers: ['x-a', 'evil'] },
  }
  for (const target of Object.keys(locations)) {
    for (const [location, fields] of Object.entries(locations)) {
      const isMeant = location === target || (target === 'header:*' && location === 'header:X-A')
      const outcome = head(rule('^evil$|/evil', { targets: [target] }), exchange(fields))
      assert.equal(outcome !== null, isMeant, `${target} in ${location}`)
    }
  }
})

test('parameter names are scanned too, and anchors refer to a single value', () => {
  assert.notEqual(head(rule('^evil$', { targets: ['query'] }), exchange({ query: 'evil=1' })), null)
  assert.equal(head(rule('^evil$', { targets: ['query'] }), exchange({ query: 'a=evils' })), null)
})

test('remove takes out the header line, the parameter, the cookie', () => {
  const target = ['query', 'header:*', 'cookie']
  const x = exchange({
    query: 'a=1&b=evil&c=2',
    headers: ['a', 'evil', 'b', 'fine', 'cookie', 'x=1; y=evil', 'a', 'good'],
  })
  assert.equal(head(rule('evil', { targets: target, action: 'remove' }), x), null)
  assert.equal(x.query, 'a=1&c=2')
  assert.deepEqual(x.headers, ['b', 'fine', 'cookie', 'x=1', 'a', 'good'])
  const only = exchange({ headers: ['cookie', 'y=evil'] })
  head(rule('evil', { targets: target, action: 'remove' }), only)
  assert.deepEqual(only.headers, [])
})

test('cookies are a separate target: header:* excludes them, header:cookie is the whole line', () => {
  const cookie = ['cookie', 'a=1; b=evil']
  assert.equal(
    head(rule('evil', { targets: ['header:*', 'header:x'] }), exchange({ headers: [...cookie] })),
    null,
  )
  const both: ContentFilterConfig = {
    rules: [
      { name: 'pair', pattern: '^evil$', targets: ['cookie'], action: 'mask' },
      { name: 'line', pattern: '^a=1', targets: ['header:Cookie'], action: 'mask' },
    ],
  }
  const x = exchange({ headers: [...cookie] })
  assert.equal(head(both, x), null)
  assert.deepEqual(x.headers, ['cookie', '***; b=***'])
})

test('mask hides the match, or the whole value if the match is encoded', () => {
  const config = rule('\\d{4}', { targets: ['query', 'header:x-pin'], action: 'mask' })
  const x = exchange({ query: 'a=p1234&b=%31234&c=5&d=1%32345', headers: ['x-pin', 'my 1234 pin'] })
  assert.equal(head(config, x), null)
  assert.equal(x.query, 'a=p***&b=***&c=5&d=***')
  assert.deepEqual(x.headers, ['x-pin', 'my *** pin'])
})

test('log and tag let everything pass, and tags are there for conditions', () => {
  const x = exchange({ query: 'a=evil' })
  const rules = [
    { name: 'seen', pattern: 'evil', targets: ['query'], action: 'log' as const },
    { name: 'marked', pattern: 'e', targets: ['query'], action: 'tag' as const },
  ]
  assert.equal(head({ rules }, x), null)
  assert.equal(x.vars?.get('content-filter.rule'), 'seen marked')
  assert.equal(x.vars?.get('content-filter.tag'), 'marked')
})

test('with a threshold scores add up over head and body, each rule once', () => {
  const rules = [
    { name: 'a', pattern: 'aa', targets: ['query', 'body'], score: 3 },
    { name: 'b', pattern: 'bb', targets: ['query', 'body'], score: 3 },
  ]
  const step = compile({ rules, threshold: 6 })
  const x = exchange({ query: 'x=aa&y=aa', body: Buffer.from('aa') })
  assert.equal(now(step.onRequest!(x)), null)
  assert.equal(now(step.onRequestBody!(x, Buffer.from('aa'))), null)
  assert.equal(x.vars?.get('content-filter.score'), '3')
  assert.equal(code(now(step.onRequestBody!(x, Buffer.from('bb')))), 'GW_CONTENT_BLOCKED')
  assert.equal(x.vars?.get('content-filter.score'), '6')
})

test('a body is scanned as text, whatever its type', () => {
  for (const type of ['text/plain', 'application/json', 'application/octet-stream', '']) {
    assert.equal(sent(rule('evil'), '{"a":"evil"}', type), 'GW_CONTENT_BLOCKED', type)
    assert.equal(sent(rule('evil'), '{"a":"fine"}', type), '{"a":"fine"}', type)
  }
  assert.equal(sent(rule('a b'), 'x=a+b', 'application/x-www-form-urlencoded'), 'GW_CONTENT_BLOCKED')
  assert.equal(sent(rule('a b'), 'x=a+b', 'text/plain'), 'x=a+b')
})

test('JSON values are found by their path, and removed or masked there', () => {
  const body = '{"a":{"card":"4111 1111"},"list":[{"card":"x"},{"card":"4111"}],"n":4111,"card":{"d":4111}}'
  const masked = rule('4111', { targets: ['body:$..card'], action: 'mask' })
  assert.deepEqual(JSON.parse(sent(masked, body)), {
    a: { card: '*** 1111' },
    list: [{ card: 'x' }, { card: '***' }],
    n: 4111,
    card: '***',
  })
  const removed = rule('4111', { targets: ['body:$..card', 'body:$.n'], action: 'remove' })
  assert.deepEqual(JSON.parse(sent(removed, body)), { a: {}, list: [{ card: 'x' }, {}] })
  const elements = rule('x', { targets: ['body:$.list[*]'], action: 'remove' })
  assert.deepEqual(JSON.parse(sent(elements, '{"list":["x","y","xx","z"]}')), { list: ['y', 'z'] })
})

test('in the whole body of JSON strings are changed one by one, so that it stays JSON', () => {
  const config = rule('".*"|evil', { targets: ['body'], action: 'mask' })
  assert.equal(sent(config, '{"a":"x evil","b":["evil"],"c":1}'), '{"a":"x ***","b":["***"],"c":1}')
  assert.equal(sent(rule('evil', { action: 'remove' }), '{"a":"evil","b":["evil","c"]}'), '{"b":["c"]}')
  assert.equal(sent(rule('evil', { action: 'remove' }), 'so evil it is', 'text/plain'), 'so  it is')
})

test('a number is masked and removed beside a text as well', () => {
  const config = rule('\\b\\d{16}\\b', { targets: ['body'], action: 'mask' })
  const text = '"t":"4111111111111111"'
  assert.equal(sent(config, `{${text},"n":4111111111111111}`), '{"t":"***","n":"***"}')
  assert.equal(sent(config, `{${text},"l":[1,{"n":-4111111111111111}]}`), '{"t":"***","l":[1,{"n":"-***"}]}')
  assert.equal(sent(config, `{"n":4111111111111111}`), '{"n":"***"}')
  assert.equal(sent(config, '4111111111111111'), '"***"')
  assert.equal(sent(rule('true', { action: 'mask' }), '{"a":true,"b":"true"}'), '{"a":"***","b":"***"}')
  const removing = rule('\\b\\d{16}\\b', { targets: ['body'], action: 'remove' })
  assert.equal(sent(removing, `{${text},"n":4111111111111111,"m":1}`), '{"m":1}')
})

test('a mask beside it lets nothing through in a name, or in digits that a double has not', () => {
  const config = rule('\\b\\d{16}\\b', { targets: ['body'], action: 'mask' })
  const text = '"t":"4111111111111111"'
  assert.equal(sent(config, `{${text},"4111111111111111":1}`), 'GW_CONTENT_BLOCKED')
  assert.equal(sent(config, `{${text},"n":9999999999999999}`), 'GW_CONTENT_BLOCKED')
  assert.equal(sent(config, `{${text},"n":4111111111111111.5e3}`), 'GW_CONTENT_BLOCKED')
  assert.equal(sent(config, `{${text},"n":"9999999999999999"}`), '{"t":"***","n":"***"}')
})

test('a number that XML or invisible characters split is found', () => {
  const blocking = rule('\\b\\d{16}\\b', { targets: ['body'] })
  const masking = rule('\\b\\d{16}\\b', { targets: ['body'], action: 'mask' })
  for (const number of [
    '4111<![CDATA[1111]]>11111111',
    '<![CDATA[4111111111111111]]>',
    '41111111<!-- -->11111111',
    '41111111<?x y?>11111111',
    ...['\u202e', '\u034f', '\ufe0f', '\u{e0031}', '\u{e0001}', '\u00ad', '\u2066'].map(
      (c) => `41111111${c}11111111`,
    ),
    [...'4111111111111111'].map((digit) => String.fromCodePoint(0xe0000 + digit.charCodeAt(0))).join(''),
  ]) {
    const xml = `<a>${number}</a>`
    assert.equal(sent(blocking, xml, 'text/xml'), 'GW_CONTENT_BLOCKED', number)
    const masked = sent(masking, `<b>4111111111111111</b>${xml}`, 'text/xml')
    assert.ok(masked === 'GW_CONTENT_BLOCKED' || !/4111|<a>.*1111/u.test(masked), masked)
    assert.equal(
      sent(blocking, JSON.stringify({ n: number }), 'application/json'),
      'GW_CONTENT_BLOCKED',
      number,
    )
  }
})

test('short values of base64 are read', () => {
  const config = rule('<script>|evil', { targets: ['query'], decode: ['base64'] })
  for (const query of ['a=PHNjcmlwdD4=', 'a=PHNjcmlwdD4', 'a=ZXZpbA==', 'a=ZXZpbA'])
    assert.notEqual(head(config, exchange({ query })), null, query)
  assert.equal(head(config, exchange({ query: 'a=word&b=1234&c=Zm9v' })), null)
})

test('a message is refused if a match cannot be removed', () => {
  // In the name of a member, over the border of two strings, in disguise.
  assert.equal(sent(rule('evil', { action: 'mask' }), '{"evil":1}'), 'GW_CONTENT_BLOCKED')
  assert.equal(sent(rule('a","b', { action: 'mask' }), '["a","b"]'), 'GW_CONTENT_BLOCKED')
  assert.equal(sent(rule('evil', { action: 'mask' }), 'e%76il', 'text/plain'), 'GW_CONTENT_BLOCKED')
})

test('a body declared as JSON must be valid; other bodies are treated as JSON if they are valid', () => {
  const config = rule('evil', { targets: ['body:$.a'] })
  const x = exchange({ headers: JSON_TYPE })
  assert.throws(() => compile(config).onRequestBody!(x, Buffer.from('{"a":')), /is not JSON/)
  assert.equal(sent(config, '{"a":"evil"}', 'text/plain'), 'GW_CONTENT_BLOCKED')
  assert.equal(sent(config, '{"a":"evil', 'text/plain'), '{"a":"evil')
  assert.equal(sent(config, ''), '')
  for (const type of ['application/json', 'text/plain']) {
    assert.throws(() => sent(config, '{"a":"evil","a":"fine"}', type), /a duplicate name/)
  }
})

test('unusual JSON with another media type is still scanned', () => {
  const config = rule('evil', { targets: ['body:$.a'] })
  assert.equal(sent(config, `${' '.repeat(100)}{"a":"evil"}`, 'text/plain'), 'GW_CONTENT_BLOCKED')
  const deep = `{"a":"evil","b":${'['.repeat(70)}${']'.repeat(70)}}`
  assert.throws(() => sent(config, deep, 'text/plain'), /nests deeper/)
  assert.throws(() => sent(config, '\ufeff{"a":"evil"}', 'text/plain'), /byte order mark/)
  assert.equal(sent(config, '{"a":"evil"}', 'text/plain; charset=utf-16'), 'GW_CONTENT_BLOCKED')
  const wide = Buffer.from('{"a":"evil"}', 'utf16le')
  assert.throws(() => sent(config, wide, 'text/plain; charset=utf-16le'), /is not JSON/)
})

test('UTF-16 bodies are read in both byte orders, with or without a mark and charset', () => {
  const config = rule('evil', { targets: ['body'] })
  const wide = Buffer.from('a=evil', 'utf16le')
  const big = Buffer.from(wide).swap16()
  const form = 'application/x-www-form-urlencoded'
  for (const mark of [
    [0xfe, 0xff],
    [0xff, 0xfe],
  ]) {
    const marked = Buffer.concat([Buffer.from(mark), Buffer.from('=1&a=evil')])
    assert.equal(sent(config, marked, form), 'GW_CONTENT_BLOCKED')
    assert.equal(
      sent(rule('evil', { targets: ['body'], action: 'mask' }), marked, form),
      'GW_CONTENT_BLOCKED',
    )
  }
  for (const charset of ['utf-16', 'utf-16le', 'utf-16be']) {
    for (const body of [wide, big, 'a=evil']) {
      assert.equal(sent(config, body, `text/plain; charset=${charset}`), 'GW_CONTENT_BLOCKED', charset)
    }
  }
})

test('members named like those that objects inherit are members like others', () => {
  const config = rule('evil', { targets: ['body:$..__proto__'], action: 'mask' })
  assert.equal(sent(config, '{"__proto__":"evil","a":1}'), '{"__proto__":"***","a":1}')
  assert.equal(sent(rule('evil', { targets: ['body:$.constructor'] }), '{"a":"evil"}'), '{"a":"evil"}')
})

test('a body in a content coding or a charset that hides ASCII is refused', () => {
  const step = compile({
    ...rule('evil'),
    rules: [...rule('evil').rules!, { name: 'o', pattern: 'e', phase: 'response', targets: ['body'] }],
  })
  for (const headers of [
    ['content-encoding', 'gzip'],
    ['content-type', 'text/plain; charset=utf-7'],
    ['content-type', 'text/plain; charset=ibm037'],
    ['content-type', 'text/plain; charset="utf-32"'],
  ]) {
    assert.equal(code(now(step.onRequestBody!(exchange({ headers }), Buffer.from('x')))), 'GW_MEDIA_TYPE')
    const answered = exchange({ responseHeaders: headers })
    assert.equal(code(now(step.onResponseBody!(answered, Buffer.from('x')))), 'GW_RESPONSE_INVALID')
  }
  assert.equal(
    sent(rule('evil'), Buffer.from('evil', 'utf16le'), 'text/plain; charset=utf-16le'),
    'GW_CONTENT_BLOCKED',
  )
  const bigEndian = Buffer.from('\ufeffevil', 'utf16le').swap16()
  assert.equal(sent(rule('evil'), bigEndian, 'text/plain'), 'GW_CONTENT_BLOCKED')
  assert.equal(sent(rule('evil'), Buffer.from('evil', 'utf16le'), 'text/plain'), 'GW_CONTENT_BLOCKED')
  assert.equal(
    sent(rule('\\.\\./'), Buffer.from([0xc0, 0xae, 0xc0, 0xae, 0xc0, 0xaf]), 'text/plain'),
    'GW_CONTENT_BLOCKED',
  )
})

test('rules of the response look at its headers and body only', () => {
  const step = compile({
    rules: [
      { name: 'h', pattern: 'php', targets: ['header:x-powered-by'], action: 'remove', phase: 'response' },
      { name: 'b', pattern: 'stack trace', targets: ['body'], phase: 'response' },
      { name: 'm', pattern: '\\d{4}', targets: ['body:$.pin'], action: 'mask', phase: 'response' },
    ],
  })
  assert.equal(step.onRequest, undefined)
  assert.equal(step.onRequestBody, undefined)
  const x = exchange({ responseHeaders: ['x-powered-by', 'PHP/5', ...JSON_TYPE] })
  assert.equal(now(step.onResponse!(x)), null)
  assert.deepEqual(x.responseHeaders, JSON_TYPE)
  assert.equal(now(step.onResponseBody!(x, Buffer.from('{"pin":1234}'))), null)
  assert.equal(Buffer.from(x.responseBody!).toString(), '{"pin":"***"}')
  assert.equal(code(now(step.onResponseBody!(x, Buffer.from('"Stack trace"')))), 'GW_CONTENT_BLOCKED')
})

test('content over the limit is refused, passed, or scanned in part', () => {
  const long = `${'x'.repeat(2000)}evil`
  const config = (
    onExceed: 'block' | 'pass' | 'scan-prefix',
    action: 'block' | 'mask' = 'block',
  ): ContentFilterConfig => ({
    ...rule('evil', { targets: ['body', 'header:*'], action }),
    maxScanBytes: '1kb',
    onExceed,
  })
  assert.equal(sent(config('block'), long), 'GW_BODY_TOO_LARGE')
  assert.equal(sent(config('pass'), `evil${long}`, 'text/plain'), `evil${long}`)
  assert.equal(sent(config('scan-prefix'), long), long)
  assert.equal(sent(config('scan-prefix'), `evil${long}`), 'GW_CONTENT_BLOCKED')
  assert.equal(sent(config('scan-prefix', 'mask'), long), 'GW_BODY_TOO_LARGE')
  const x = exchange()
  head(config('block'), x)
  assert.equal(x.bodyLimit, 1024)
  const headers = ['a', 'evil', 'b', 'x'.repeat(2000), 'c', 'evil']
  assert.equal(
    code(head(config('block', 'mask'), exchange({ headers: [...headers] }))),
    'GW_HEADERS_TOO_LARGE',
  )
  const prefix = exchange({ headers: [...headers] })
  assert.equal(head(config('scan-prefix', 'mask'), prefix), null)
  assert.deepEqual([prefix.headers[1], prefix.headers[5]], ['***', 'evil'])
})

test('a body of 32 KB or more is scanned on a thread, with the same result', async () => {
  const config: ContentFilterConfig = {
    rules: [
      { name: 'm', pattern: 'secret', targets: ['body:$.s'], action: 'mask' },
      { name: 'b', pattern: 'evil', targets: ['body'] },
    ],
  }
  const step = compile(config)
  const ask = async (value: object): Promise<[Reply | null, Exchange]> => {
    const body = Buffer.from(JSON.stringify({ ...value, fill: 'x'.repeat(40_000) }))
    const x = exchange({ headers: JSON_TYPE, body })
    const outcome = step.onRequestBody!(x, body)
    assert.ok(outcome instanceof Promise)
    return [await outcome, x]
  }
  const [passed, x] = await ask({ s: 'my secret' })
  assert.equal(passed, null)
  assert.equal((JSON.parse(Buffer.from(x.body!).toString()) as { s: string }).s, 'my ***')
  const [blocked, y] = await ask({ s: 'evil' })
  assert.equal(code(blocked), 'GW_CONTENT_BLOCKED')
  assert.equal(y.vars?.get('content-filter.rule'), 'b')
  const broken = Buffer.from(`{${'x'.repeat(40_000)}`)
  const z = exchange({ headers: JSON_TYPE })
  await assert.rejects(async () => step.onRequestBody!(z, broken), /is not JSON/)
})

test('configuration that cannot work is refused with the rule it is about', () => {
  const cases: [ContentFilterConfig, RegExp][] = [
    [{}, /configure 'rules', 'packs' or both/],
    [rule('(?=a)'), /rule 'r': the pattern .* linear time/],
    [rule('a', { targets: ['query'], phase: 'response' }), /rule 'r': a response has no query/],
    [rule('a', { targets: ['path'], action: 'mask' }), /rule 'r': a path cannot be changed/],
    [rule('a', { targets: ['body:$.a['] }), /rule 'r': .*is not a JSON path/],
    [rule('a', { targets: ['body:$.a[?@.b]'] }), /rule 'r': .*has a slice or a filter/],
    [{ ...rule('a'), maxScanBytes: '5mb' }, /use at most 4mb/],
    [{ packs: ['sqli'], except: ['sqli/nothing'] }, /'except' contains 'sqli\/nothing'/],
    [{ packs: ['sqli'], packAction: 'remove' }, /a path cannot be changed/],
  ]
  for (const [config, message] of cases) assert.throws(() => compile(config), message)
})

test('the schema accepts what is documented and rejects everything else', () => {
  const defaulted = { rules: [{ name: 'a', pattern: 'b' }] }
  assert.deepEqual(schemaMistakes(contentFilter, defaulted), [])
  assert.deepEqual(defaulted.rules[0], {
    name: 'a',
    pattern: 'b',
    targets: ['query', 'body'],
    decode: ['url', 'html', 'unicode'],
    action: 'block',
    score: 5,
    caseInsensitive: true,
    phase: 'request',
  })
  for (const config of [
    { rules: [] },
    { rules: [{ name: 'a' }] },
    { rules: [{ name: 'a b', pattern: 'x' }] },
    { rules: [{ name: 'a', pattern: 'x', targets: ['headers'] }] },
    { rules: [{ name: 'a', pattern: 'x', targets: ['body:a'] }] },
    { rules: [{ name: 'a', pattern: 'x', decode: ['rot13'] }] },
    { rules: [{ name: 'a', pattern: 'x', action: 'deny' }] },
    { packs: ['sqli@2'] },
    { packs: ['sqli'], decodePasses: 6 },
    { packs: ['sqli'], onExceed: 'cut' },
  ]) {
    assert.notDeepEqual(schemaMistakes(contentFilter, config), [], JSON.stringify(config))
  }
})
