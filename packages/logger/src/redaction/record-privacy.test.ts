import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordEnv } from '../record/record-env.js'
import { encodeRecord, sampleExchange } from '../testing.js'
import { BatchPrivacy } from './batch-privacy.js'
import { RecordPrivacy } from './record-privacy.js'
import { options, redactedBody, redactedRecord, rule } from './testing.js'

const EMAIL = rule({ type: 'email' })
const MAIL = 'john@example.com'

interface Redacted {
  readonly [member: string]: unknown
  readonly privacy: { readonly rules: readonly string[]; readonly detected: readonly string[] }
}

/** A record with the value in every area that rules check, and in one that they do not. */
const EVERYWHERE = {
  id: 'r1',
  url: { path: `/${MAIL}`, query: `a=${encodeURIComponent(MAIL)}&b=1` },
  ua: `curl (${MAIL})`,
  xff: MAIL,
  req: { ct: `text/plain; x=${MAIL}` },
  res: { status: 200, ct: `text/plain; x=${MAIL}` },
  vars: { who: MAIL },
  hdr: {
    req_in: { 'x-a': MAIL, referer: `http://a/b?c=${MAIL}` },
    req_up: { 'x-a': [MAIL, 'b'] },
    res_up: {},
    res_out: { 'x-a': `{"a":"${MAIL}"}` },
  },
  body: {
    req_in: { text: MAIL },
    req_up: { text: `m=${MAIL}` },
    res_up: { text: `{"a":"${MAIL}"}` },
    res_out: { text: `<a>${MAIL}</a>`, bytes: 3 },
  },
}

test('a value is found in header fields, their copies, the query, variables and all bodies', () => {
  const { url, ...rest } = redactedRecord<Redacted>(EVERYWHERE, EMAIL)
  assert.deepEqual(url, { path: `/${MAIL}`, query: 'a=***&b=1' })
  assert.ok(!JSON.stringify(rest).includes(MAIL), JSON.stringify(rest))
  assert.deepEqual(rest.privacy, { rules: ['email'], detected: ['email'] })
  assert.deepEqual((rest['hdr'] as typeof EVERYWHERE.hdr).req_up['x-a'], ['***', 'b'])
})

test('a rule looks only where it is asked to', () => {
  for (const area of ['headers', 'query', 'body', 'vars'] as const) {
    const record = redactedRecord<typeof EVERYWHERE>(EVERYWHERE, { ...EMAIL, in: [area] })
    const { headers, ...others } = {
      headers: [record.hdr, record.ua, record.xff, record.req],
      query: record.url.query,
      body: record.body,
      vars: record.vars,
    }
    const holds = (part: unknown) => JSON.stringify(part).includes('john')
    assert.equal(holds(headers), area !== 'headers')
    for (const [name, part] of Object.entries(others))
      assert.equal(holds(part), area !== name, `${area} ${name}`)
  }
})

test('header fields, parameters and variables are found by name, and copies of fields with them', () => {
  const names = rule(
    { names: ['User-Agent', 'content-type', 'a', 'who', 'x-forwarded-for'] },
    { do: 'delete' },
  )
  const record = redactedRecord<typeof EVERYWHERE>(EVERYWHERE, names)
  assert.deepEqual(
    [record.ua, record.xff, record.req, record.res, record.vars, record.url.query],
    [undefined, undefined, {}, { status: 200 }, {}, 'b=1'],
  )
})

test('a rule that only detects changes nothing but reports', () => {
  const rules = [
    { ...EMAIL, do: 'detect' as const },
    rule({ names: ['who'] }, { do: 'detect' }),
    rule({ regex: 'curl' }, { do: 'detect', id: 'tool' }),
  ]
  const { privacy, ...rest } = redactedRecord<Redacted>(EVERYWHERE, ...rules)
  assert.deepEqual(rest, EVERYWHERE)
  assert.deepEqual([...privacy.rules].sort(), ['email', 'tool', 'who'])
  assert.deepEqual(privacy.detected, ['email'])
})

test('a long text full of names is gone through once: looking back or ahead of each would take a quarter of an hour', () => {
  const detect = rule({ names: ['who'] }, { do: 'detect' })
  const line = 'who:x '.repeat(500_000)
  const indented = Array.from({ length: 100_000 }, (_, i) => `${' '.repeat(i % 40)}who: `).join('\n')
  const returned = 'who:x\r'.repeat(500_000)
  for (const text of [line, indented, returned]) assert.equal(redactedBody(text, detect), text)
})

test('a value is found however much blank space stands before it', () => {
  const mask = rule({ names: ['who'] })
  for (const blank of ['\n'.repeat(300) + '  ', `\n${' '.repeat(300)}`, `${'\r\n'.repeat(130)}  `])
    assert.equal(
      redactedBody(`who:${blank}Alice\nx: 1`, mask).includes('Alice'),
      false,
      JSON.stringify(blank),
    )
  const item = `who:${'\n'.repeat(260)}- Alice\nx: 1`
  assert.equal(redactedBody(item, mask).includes('Alice'), false)
  const nothing = `who:${'\n'.repeat(255)}-x: 1`
  assert.equal(redactedBody(nothing, mask), nothing)
})

test('a line in which nothing is found stays as it is', () => {
  const privacy = new RecordPrivacy(options(EMAIL))
  const line = '{ "body":{"req_in":{"text":"{\\"a\\" : 1}"}}, "url":{"query":"a=b"} }'
  assert.equal(privacy.redacted(line), line)
})

test('the digest of a redacted body is removed, because it would confirm guesses', () => {
  const record = { body: { req_in: { text: MAIL, sha256: 'aa' }, res_out: { text: 'plain', sha256: 'bb' } } }
  const { body } = redactedRecord<typeof record>(record, EMAIL)
  assert.deepEqual(body, { req_in: { text: '***' }, res_out: { text: 'plain', sha256: 'bb' } })
})

test('the digest of a body that rules cannot read completely is removed, unless rules only detect', () => {
  const body = {
    req_in: { bytes: 3, sha256: 'aa' },
    res_up: { text: 'pl', truncated: true, sha256: 'bb' },
    res_out: { text: 'plain', sha256: 'cc' },
  }
  const { sha256: _, ...cut } = body.res_up
  assert.deepEqual(redactedRecord({ body }, EMAIL), {
    body: { req_in: { bytes: 3 }, res_up: cut, res_out: body.res_out },
  })
  assert.deepEqual(redactedRecord({ body }, { ...EMAIL, do: 'detect' }), { body })
})

test('a binary body is removed, unless rules only detect', () => {
  const record = { body: { req_in: { base64: 'AAEC', bytes: 3, ct: `image/png; x=${MAIL}` } } }
  const expected = { body: { req_in: { bytes: 3, ct: 'image/png; x=***' } } }
  const { privacy, ...rest } = redactedRecord<Redacted>(record, EMAIL)
  assert.deepEqual([rest, privacy], [expected, { rules: ['email'], detected: ['email'], failed: 'binary' }])
  const watched = redactedRecord<Redacted>(record, { ...EMAIL, do: 'detect' })
  assert.deepEqual(watched['body'], record.body)
})

test('a real record stays one line of ASCII with everything else in it', () => {
  const x = sampleExchange({ query: 'q=ü&mail=a%40b.com' })
  x.setVar('city', 'İzmir, a@b.com\n')
  const env = recordEnv({ fields: 'full', worker: 1, node: 'n', version: '1', configDigest: () => 'd' })
  const line = encodeRecord(x, env)
  const redacted = new RecordPrivacy(options(EMAIL)).redacted(line)
  assert.match(redacted, /^[ -~]*$/)
  const [before, after] = [JSON.parse(line), JSON.parse(redacted)]
  assert.deepEqual(after.vars, { city: 'İzmir, ***\n' })
  assert.deepEqual({ ...after, vars: 0, url: 0, privacy: 0 }, { ...before, vars: 0, url: 0, privacy: 0 })
})

test('a record for which a rule fails keeps no protected content', () => {
  const privacy = new BatchPrivacy(options(EMAIL))
  const broken = [
    { ...EVERYWHERE, hdr: { req_in: 'text' } },
    { ...EVERYWHERE, body: { req_in: { text: { a: MAIL } } } },
    { ...EVERYWHERE, vars: [MAIL] },
    { ...EVERYWHERE, url: { path: '/p', query: { a: MAIL } } },
  ]
  for (const record of broken) {
    const { lines, problem } = privacy.redacted(Buffer.from(`${JSON.stringify(record)}\n`))
    const left = JSON.parse(lines.toString())
    assert.deepEqual([left.id, left.res], ['r1', { status: 200 }])
    assert.equal(left.privacy.failed, 'rule')
    assert.deepEqual(
      ['body', 'hdr', 'vars', 'ua', 'xff'].filter((name) => name in left),
      [],
    )
    assert.equal(left.url.query, undefined)
    assert.match(problem, /failed on 1 records/)
  }
})

test('a line that is not a record is replaced by a marker record', () => {
  const privacy = new BatchPrivacy(options(EMAIL))
  const id = '019aa3f0-6c1e-7b7e-9d6f-3f1f2a4b5c6d'
  const line = `{"@timestamp":"2026-01-31T08:05:09.042Z","id":"${id}","a":"${MAIL}`
  const { lines } = privacy.redacted(Buffer.from(`${line}\n"text"\n`))
  const [first, second, end] = lines.toString().split('\n')
  assert.deepEqual(JSON.parse(first!), {
    '@timestamp': '2026-01-31T08:05:09.042Z',
    id,
    privacy: { failed: 'record' },
  })
  assert.equal(JSON.parse(second!).privacy.failed, 'record')
  assert.equal(end, '')
})
