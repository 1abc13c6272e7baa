import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { NS, TOKEN } from './names.js'
import { added, checked, verdict } from './testing/run.js'
import { soapMessage } from './testing/soap.js'

const NOW = Date.parse('2030-01-31T12:00:00Z')
const users = [{ name: 'ana', password: 'correct horse', groups: ['partners'] }]

function withHeader(content: string): string {
  return soapMessage({
    header: `<wsse:Security xmlns:wsse="${NS.wsse}" xmlns:wsu="${NS.wsu}">${content}</wsse:Security>`,
  })
}

function instant(offsetMs: number): string {
  return new Date(NOW + offsetMs).toISOString()
}

function timestamp(createdMs: number, expiresMs: number | null): string {
  const expires = expiresMs === null ? '' : `<wsu:Expires>${instant(expiresMs)}</wsu:Expires>`
  return withHeader(
    `<wsu:Timestamp><wsu:Created>${instant(createdMs)}</wsu:Created>${expires}</wsu:Timestamp>`,
  )
}

interface Token {
  readonly name?: string
  readonly type?: string | null
  readonly password?: string
  readonly nonce?: string | null
  readonly created?: string | null
}

function usernameToken({
  name = 'ana',
  type = TOKEN.passwordText,
  password = 'correct horse',
  nonce = null,
  created = null,
}: Token): string {
  const attribute = type === null ? '' : ` Type="${type}"`
  return withHeader(
    `<wsse:UsernameToken><wsse:Username>${name}</wsse:Username><wsse:Password${attribute}>${password}</wsse:Password>` +
      (nonce === null ? '' : `<wsse:Nonce>${nonce}</wsse:Nonce>`) +
      (created === null ? '' : `<wsu:Created>${created}</wsu:Created>`) +
      '</wsse:UsernameToken>',
  )
}

function digestToken(more: Token = {}, secret = 'correct horse', createdMs = 0): string {
  const nonce = Buffer.from('0123456789abcdef').toString('base64')
  const created = instant(createdMs)
  const password = createHash('sha1')
    .update(Buffer.from(nonce, 'base64'))
    .update(created)
    .update(secret)
    .digest('base64')
  return usernameToken({ type: TOKEN.passwordDigest, password, nonce, created, ...more })
}

const text = { usernameToken: { users, types: ['text' as const] } }
const digest = { usernameToken: { users } }

test('a Timestamp is valid from its creation until it expires, at most for the ttl', () => {
  const rules = { timestamp: { ttl: '100s', clockSkew: '10s' } }
  const cases: [number, number | null, string][] = [
    [0, 1000, 'passed'],
    [0, null, 'passed'],
    [10_000, 20_000, 'passed'],
    [10_001, 20_000, 'MessageExpired'],
    [-110_000, null, 'passed'],
    [-110_001, null, 'MessageExpired'],
    [-110_001, 86_400_000, 'MessageExpired'],
    [-50_000, -10_000, 'passed'],
    [-50_000, -10_001, 'MessageExpired'],
  ]
  for (const [created, expires, expected] of cases) {
    assert.equal(verdict(timestamp(created, expires), rules, NOW), expected, `${created} ${expires}`)
  }
})

test('a required Timestamp must exist, and an existing one is always checked', () => {
  assert.equal(verdict(withHeader(''), { timestamp: {} }, NOW), 'InvalidSecurity')
  const token = /<wsse:UsernameToken>.*<\/wsse:UsernameToken>/s.exec(usernameToken({}))![0]
  assert.equal(verdict(withHeader(token), text, NOW), 'passed')
  const old = /<wsu:Timestamp>.*<\/wsu:Timestamp>/s.exec(timestamp(-3_600_000, null))![0]
  assert.equal(verdict(withHeader(old + token), text, NOW), 'MessageExpired')
})

test('a Timestamp with another structure or a time that is not UTC is refused', () => {
  const created = `<wsu:Created>${instant(0)}</wsu:Created>`
  for (const content of [
    '',
    created + created,
    `<wsu:Expires>${instant(0)}</wsu:Expires>${created}`,
    `${created}<wsu:Expires>${instant(1000)}</wsu:Expires><x/>`,
    `<wsu:Created>${instant(0).replace('Z', '+01:00')}</wsu:Created>`,
    `<wsu:Created>${instant(0).replace('Z', '')}</wsu:Created>`,
    '<wsu:Created>2030-13-41T12:00:00Z</wsu:Created>',
    `<wsu:Created>${instant(0)}<!-- --></wsu:Created>`,
    `<wsu:Created>${instant(0)}<?x?></wsu:Created>`,
    `<wsu:Created>\u00a0${instant(0)}</wsu:Created>`,
    `<wsu:Created>${instant(0)} ${instant(0)}</wsu:Created>`,
    `<wsu:Created>${' '.repeat(50_000)}</wsu:Created>`,
    '<wsu:Created/>',
  ]) {
    const message = withHeader(`<wsu:Timestamp>${content}</wsu:Timestamp>`)
    assert.equal(verdict(message, { timestamp: {} }, NOW), 'InvalidSecurity', content)
  }
})

test('white space around a time is ignored', () => {
  for (const space of [' ', '\n\t  ', '&#xD;\n', '<![CDATA[ ]]>']) {
    const spaced = (name: string, offsetMs: number): string =>
      `<wsu:${name}>${space}${instant(offsetMs)}${space}</wsu:${name}>`
    const content = spaced('Created', 0) + spaced('Expires', 1000)
    const message = withHeader(`<wsu:Timestamp>${content}</wsu:Timestamp>`)
    assert.equal(verdict(message, { timestamp: {} }, NOW), 'passed', JSON.stringify(space))
    const token = digestToken().replace(/(<wsu:Created>)([^<]*)/, `$1${space}$2${space}`)
    assert.equal(verdict(token, digest, NOW), 'passed', JSON.stringify(space))
  }
})

test('CDATA sections are text, and all parts of a text count', () => {
  for (const [name, password, expected] of [
    ['<![CDATA[ana]]>', '<![CDATA[correct horse]]>', 'passed'],
    ['an<![CDATA[a]]>', 'correct<![CDATA[ ]]>horse', 'passed'],
    ['<![CDATA[a]]><![CDATA[na]]>', '&#99;orrect horse', 'passed'],
    ['ana<![CDATA[.evil]]>', 'correct horse', 'FailedAuthentication'],
    ['ana<!-- -->.evil', 'correct horse', 'FailedAuthentication'],
    ['ana', 'correct horse<![CDATA[!]]>', 'FailedAuthentication'],
    ['ana', '<![CDATA[correct]]><!-- --><![CDATA[ horse]]>', 'FailedAuthentication'],
    ['ana', 'correct<?x?> horse', 'FailedAuthentication'],
    ['ana', '<![CDATA[correct&#32;horse]]>', 'FailedAuthentication'],
    ['<![CDATA[]]>', '<![CDATA[]]>', 'FailedAuthentication'],
  ] as const) {
    assert.equal(verdict(usernameToken({ name, password }), text, NOW), expected, `${name} ${password}`)
  }
  const whole = digestToken()
  for (const name of ['Password', 'Nonce', 'Created']) {
    const section = whole.replace(new RegExp(`(:${name}[^>]*>)([^<]*)`), '$1<![CDATA[$2]]>')
    assert.equal(verdict(section, digest, NOW), 'passed', name)
  }
})

test('a plain-text password identifies the user', () => {
  const answer = checked(usernameToken({}), text, NOW)
  assert.ok(answer.kind === 'passed')
  assert.deepEqual(answer.identity, { id: 'ana', name: 'ana', groups: ['partners'] })
  assert.deepEqual(answer.once, [])
  assert.equal(
    verdict(usernameToken({ type: null }), text, NOW),
    'passed',
    'text is the default of the standard',
  )
})

test('wrong, missing and malformed passwords and unknown users get the same fault', () => {
  for (const token of [
    { password: 'wrong' },
    { password: '' },
    { name: 'bob' },
    { name: 'ANA' },
    { name: '__proto__' },
    { password: 'x'.repeat(2000) },
    { password: 'correct <b/>horse' },
    { password: 'correct<!-- --> horse' },
  ]) {
    assert.equal(verdict(usernameToken(token), text, NOW), 'FailedAuthentication', JSON.stringify(token))
  }
  const none = usernameToken({}).replace(/<wsse:Password.*<\/wsse:Password>/, '')
  assert.equal(verdict(none, text, NOW), 'FailedAuthentication')
})

test('a digest of nonce, creation time and password identifies the user, once', () => {
  const answer = checked(digestToken(), digest, NOW)
  assert.ok(answer.kind === 'passed')
  assert.equal(answer.identity?.id, 'ana')
  assert.equal(answer.once.length, 1)
  assert.equal(verdict(digestToken({}, 'wrong'), digest, NOW), 'FailedAuthentication')
  assert.equal(verdict(digestToken({ created: instant(1) }), digest, NOW), 'FailedAuthentication')
  assert.equal(verdict(digestToken({ nonce: 'AAAA' }), digest, NOW), 'FailedAuthentication')
})

test('the digest is that of the UsernameToken profile', () => {
  // SHA-1("" + "" + "abc") of FIPS 180-2 appendix A.1, with the parts cut anywhere.
  const expected = Buffer.from('a9993e364706816aba3e25717850c26c9cd0d89d', 'hex').toString('base64')
  const message = added(soapMessage(), { usernameToken: { name: 'u', password: 'c' } }, NOW)
  const [nonce, created, shown] = ['Nonce', 'Created', 'Password'].map(
    (name) => new RegExp(`:${name}[^>]*>([^<]*)`).exec(message)![1]!,
  )
  const whole = Buffer.concat([Buffer.from(nonce!, 'base64'), Buffer.from(`${created}c`)])
  assert.equal(createHash('sha1').update(whole).digest('base64'), shown)
  assert.equal(createHash('sha1').update('abc').digest('base64'), expected)
})

test('a digest needs nonce and creation time, fresh and readable', () => {
  assert.equal(verdict(digestToken({ nonce: null }), digest, NOW), 'InvalidSecurity')
  assert.equal(verdict(digestToken({ created: null }), digest, NOW), 'InvalidSecurity')
  assert.equal(verdict(digestToken({}, undefined, -3_600_000), digest, NOW), 'MessageExpired')
  assert.equal(verdict(digestToken({}, undefined, 3_600_000), digest, NOW), 'MessageExpired')
  assert.equal(verdict(digestToken({ nonce: 'not base64' }), digest, NOW), 'InvalidSecurity')
  assert.equal(verdict(digestToken({ nonce: 'A'.repeat(1024) }), digest, NOW), 'InvalidSecurity')
})

test('a password type that is not configured is refused', () => {
  assert.equal(verdict(usernameToken({}), digest, NOW), 'UnsupportedSecurityToken')
  assert.equal(verdict(digestToken(), text, NOW), 'UnsupportedSecurityToken')
  assert.equal(verdict(usernameToken({ type: 'urn:x' }), text, NOW), 'UnsupportedSecurityToken')
  const both = { usernameToken: { users, types: ['text' as const, 'digest' as const] } }
  assert.equal(verdict(usernameToken({}), both, NOW), 'passed')
  assert.equal(verdict(digestToken(), both, NOW), 'passed')
})

test('a second token, name or password is refused', () => {
  const message = usernameToken({})
  for (const name of ['Username', 'Password', 'UsernameToken']) {
    const element = new RegExp(`<wsse:${name}[ >].*</wsse:${name}>`, 's').exec(message)![0]
    assert.equal(verdict(message.replace(element, element + element), text, NOW), 'InvalidSecurity', name)
  }
})

test('a header for another actor is ignored, and the ultimate receiver equals no role', () => {
  const message = usernameToken({})
  const forGateway = message.replace('<wsse:Security', '<wsse:Security s:actor="urn:gateway"')
  assert.equal(verdict(forGateway, text, NOW), 'InvalidSecurity')
  assert.equal(verdict(forGateway, { ...text, actor: 'urn:gateway' }, NOW), 'passed')
  const header = /<wsse:Security.*<\/wsse:Security>/s.exec(message)![0]
  for (const [role, expected] of [
    [`${NS.soap12}/role/ultimateReceiver`, 'passed'],
    [`${NS.soap12}/role/next`, 'InvalidSecurity'],
  ] as const) {
    const soap12 = soapMessage({
      version: '1.2',
      header: header.replace('<wsse:Security', `<wsse:Security s:role="${role}"`),
    })
    assert.equal(verdict(soap12, text, NOW), expected)
  }
})

test('anything but a SOAP message is refused', () => {
  for (const message of [
    '<a/>',
    '<Envelope/>',
    `<s:Envelope xmlns:s="${NS.soap11}"/>`,
    `<s:Body xmlns:s="${NS.soap11}"/>`,
  ]) {
    assert.equal(verdict(message, text, NOW), 'InvalidSecurity', message)
  }
  const mixed = usernameToken({}).replace('<s:Body>', `<s:Body xmlns:s="${NS.soap12}">`)
  assert.equal(verdict(mixed, text, NOW), 'InvalidSecurity')
  for (const broken of ['', 'x', '<a>', '{"a":1}'])
    assert.equal(verdict(broken, text, NOW), 'GW_BODY_UNPARSABLE')
})

test('only a SOAP fault may pass without a header, and only if allowed', () => {
  const fault = soapMessage({ content: '<s:Fault><faultcode>s:Server</faultcode></s:Fault>' })
  assert.equal(verdict(fault, text, NOW), 'InvalidSecurity')
  const lenient = { ...text, unsecuredFaults: true }
  assert.equal(verdict(fault, lenient, NOW), 'passed')
  assert.equal(verdict(soapMessage(), lenient, NOW), 'InvalidSecurity')
  assert.equal(verdict(fault.replace('</s:Fault>', '</s:Fault><evil/>'), lenient, NOW), 'InvalidSecurity')
})
