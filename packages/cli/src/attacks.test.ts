import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { keyPair } from '@sluice/core/testing'
import { makeCertificate } from '@sluice/policies/testing'
import { origin, type RunningGateway, startGateway, statusOf, until } from './testing.js'

/** A message that must not pass a route. */
interface Attack {
  readonly name: string
  /** Which policies it meets: paths of the document below. */
  readonly routes: readonly string[]
  readonly body?: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
  /** Codes of which one has to be the answer's. */
  readonly codes: readonly string[]
}

const SOAP = 'http://schemas.xmlsoap.org/soap/envelope/'
const MEGABYTE = 1024 * 1024
/** What a worker may take beside what it has; the table says what it was. */
const MAX_GROWTH = 64 * MEGABYTE

const client = makeCertificate({ name: 'client' })
const { privateKey, publicKey } = keyPair('rsa', { modulusLength: 2048 })
const publicPem = publicKey.export({ format: 'pem', type: 'spki' }).toString()

const SCHEMA = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="a"><xs:complexType><xs:sequence>
  <xs:element name="b" minOccurs="0" maxOccurs="unbounded"><xs:simpleType><xs:restriction base="xs:string">
    <xs:pattern value="(x+x+)+y"/></xs:restriction></xs:simpleType></xs:element>
</xs:sequence></xs:complexType></xs:element></xs:schema>`
const STYLESHEET = `<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:template match="/"><out><xsl:copy-of select="//b"/></out></xsl:template></xsl:stylesheet>`

const ROUTES: Readonly<Record<string, object>> = {
  xsd: { use: 'xsd', with: { schemas: [{ systemId: 'a.xsd', inline: SCHEMA }], root: 'a.xsd' } },
  xslt: { use: 'xslt', with: { stylesheet: { inline: STYLESHEET } } },
  'xml-json': { use: 'xml-json', with: { direction: 'to-json' } },
  wss: {
    use: 'ws-security',
    with: {
      request: {
        check: { signature: { certificates: [{ id: 'client', certificate: client.certificatePem }] } },
      },
    },
  },
  json: {
    use: 'json-schema',
    with: {
      schema: {
        inline: {
          type: 'object',
          additionalProperties: false,
          properties: { a: { type: 'string', pattern: '^(a+)+$' } },
        },
      },
    },
  },
  filter: {
    use: 'content-filter',
    with: { packs: ['sqli', 'xss'], rules: [{ name: 'backtracking', pattern: '(a+)+b$' }] },
  },
  jwt: { use: 'jwt', with: { keys: [{ kid: 'k', pem: publicPem }], algorithms: ['RS256'] } },
  signing: {
    use: 'ws-security',
    with: {
      request: {
        add: { timestamp: {}, signature: { key: client.keyPem, certificate: client.certificatePem } },
      },
    },
  },
}

const XML_ROUTES = ['xsd', 'xslt', 'xml-json', 'wss']
const XML_CODES = ['GW_BODY_UNPARSABLE', 'GW_TRANSFORM_INPUT']

function laughs(): string {
  const levels = Array.from({ length: 10 }, (_, i) => `<!ENTITY e${i + 1} "${`&e${i};`.repeat(10)}">`)
  return `<!DOCTYPE a [<!ENTITY e0 "ha">${levels.join('')}]><a>&e10;</a>`
}

const XML_ATTACKS: Readonly<Record<string, string>> = {
  'an entity that is a file': '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
  'an entity that is a server': '<!DOCTYPE a [<!ENTITY x SYSTEM "http://127.0.0.1:1/">]><a>&x;</a>',
  'billion laughs': laughs(),
  'quadratic blowup': `<!DOCTYPE a [<!ENTITY x "${'x'.repeat(50_000)}">]><a>${'&x;'.repeat(50_000)}</a>`,
  '100,000 levels': '<a>'.repeat(100_000) + '</a>'.repeat(100_000),
  '100,000 attributes': `<a${Array.from({ length: 100_000 }, (_, i) => ` a${i}=""`).join('')}/>`,
  '200,000 elements': `<a>${'<b/>'.repeat(200_000)}</a>`,
  'comments that never end': '<!--'.repeat(200_000),
}

const encode = (text: string): string => Buffer.from(text).toString('base64url')

/** A token whose header asks to be believed. */
function token(header: object, signature = ''): string {
  return `${encode(JSON.stringify(header))}.${encode('{"sub":"root","exp":4102444800}')}.${signature}`
}

/** Signed with the public key as if it were a shared secret. */
function confused(): string {
  const input = token({ alg: 'HS256', kid: 'k' }).slice(0, -1)
  return `${input}.${createHmac('sha256', publicPem).update(input).digest('base64url')}`
}

const TOKENS: Readonly<Record<string, string>> = {
  'alg none': token({ alg: 'none' }),
  'alg nOnE': token({ alg: 'nOnE' }),
  'RS256 become HS256': confused(),
  'a key in the header': token({ alg: 'RS256', jwk: privateKey.export({ format: 'jwk' }) }, 'AAAA'),
  'a key to be fetched': token({ alg: 'RS256', jku: 'http://127.0.0.1:1/' }, 'AAAA'),
  'an extension nobody knows': token({ alg: 'RS256', kid: 'k', crit: ['x'], x: 1 }, 'AAAA'),
  'a key id that is a path': token({ alg: 'RS256', kid: '../../etc/passwd' }, 'AAAA'),
}

/** Ways to have another body signed by somebody else's signature. */
function wrappings(signed: string): Readonly<Record<string, string>> {
  const body = /<(\w+):Body.*<\/\1:Body>/s.exec(signed)![0]
  const evil = body.replace('7 widgets', '9000 widgets').replace(/ \w+:Id="[^"]*"/, '')
  const movedInto = (element: string): string => {
    const end = new RegExp(`</\\w+:${element}>`)
    assert.match(signed, end)
    return signed.replace(body, evil).replace(end, (tag) => `<w xmlns="">${body}</w>${tag}`)
  }
  const security = /<(\w+):Security.*<\/\1:Security>/s.exec(signed)![0]
  const reference = /<(\w+):Reference .*?<\/\1:Reference>/s.exec(signed)![0]
  return {
    'a body after the signed one': signed.replace(body, body + evil),
    'a body before the signed one': signed.replace(body, evil + body),
    'the signed body in the header': movedInto('Header'),
    'the signed body in the security header': movedInto('Security'),
    'another body with the same id': signed.replace(body, body.replace('7 widgets', '9000 widgets') + body),
    'no security header': signed.replace(security, ''),
    'a reference a thousand times': signed.replace(reference, reference.repeat(1000)),
    'another word in the signed body': signed.replace('7 widgets', '8 widgets'),
  }
}

function attacks(signed: string): readonly Attack[] {
  const xml = { 'content-type': 'text/xml' }
  const json = { 'content-type': 'application/json' }
  const all: Attack[] = [
    ...Object.entries(XML_ATTACKS).map(([name, body]) => ({
      name,
      body,
      headers: xml,
      routes: XML_ROUTES,
      codes: XML_CODES,
    })),
    ...Object.entries(wrappings(signed)).map(([name, body]) => ({
      name,
      body,
      headers: xml,
      routes: ['wss'],
      codes: ['GW_WSS_FAILED'],
    })),
    ...Object.entries(TOKENS).map(([name, text]) => ({
      name,
      headers: { authorization: `Bearer ${text}` },
      routes: ['jwt'],
      codes: ['GW_TOKEN_MALFORMED', 'GW_TOKEN_SIGNATURE'],
    })),
  ]
  const nothing = gzipSync(Buffer.alloc(10 * MEGABYTE))
  return [
    ...all,
    {
      name: 'ten megabytes of nothing in gzip',
      body: nothing,
      headers: { ...xml, 'content-encoding': 'gzip' },
      routes: XML_ROUTES,
      codes: ['GW_MEDIA_TYPE', 'GW_WSS_FAILED'],
    },
    {
      name: 'a pattern that backtracks',
      body: `<a><b>${'x'.repeat(60)}</b></a>`,
      headers: xml,
      routes: ['xsd'],
      // No verdict: the thread is ended, or libxml2 gives up.
      codes: ['GW_POLICY_ERROR'],
    },
    {
      name: 'a pattern that backtracks, 900,000 characters',
      body: `<a><b>${'x'.repeat(900_000)}</b></a>`,
      headers: xml,
      routes: ['xsd'],
      // No verdict: the thread is ended, or libxml2 gives up.
      codes: ['GW_POLICY_ERROR'],
    },
    {
      name: 'a pattern that backtracks, 10,000 times',
      body: `<a>${`<b>${'x'.repeat(40)}</b>`.repeat(10_000)}</a>`,
      headers: xml,
      routes: ['xsd'],
      // No verdict: the thread is ended, or libxml2 gives up.
      codes: ['GW_POLICY_ERROR'],
    },
    {
      name: 'a pattern that backtracks',
      body: JSON.stringify({ a: `${'a'.repeat(100_000)}!` }),
      headers: json,
      routes: ['json'],
      codes: ['GW_SCHEMA_INVALID'],
    },
    {
      name: 'a pattern that backtracks',
      body: `${'a'.repeat(30_000)}! ' or 1=1 -- <script>alert(1)</script>`,
      headers: { 'content-type': 'text/plain' },
      routes: ['filter'],
      codes: ['GW_CONTENT_BLOCKED'],
    },
    {
      name: '500,000 levels of JSON',
      body: `${'['.repeat(500_000)}${']'.repeat(500_000)}`,
      headers: json,
      routes: ['json'],
      codes: ['GW_BODY_UNPARSABLE', 'GW_SCHEMA_INVALID'],
    },
    {
      name: 'a prototype among the members',
      body: '{"__proto__":{"admin":true},"constructor":{"prototype":{"a":1}}}',
      headers: json,
      routes: ['json'],
      codes: ['GW_BODY_UNPARSABLE', 'GW_SCHEMA_INVALID'],
    },
  ]
}

/** The most memory that a process took since this was asked, in bytes, beside what it had. */
function watchGrowth(pid: number): () => number {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
  const before = memoryOf(pid, 'VmRSS')
  return () => Math.max(0, memoryOf(pid, 'VmHWM') - before)
}

function memoryOf(pid: number, field: string): number {
  const line = new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!
  return Number(line[1]) * 1024
}

interface Answer {
  readonly status: number
  readonly code: string
  readonly text: string
  readonly ms: number
}

async function send(url: string, { body, headers }: Pick<Attack, 'body' | 'headers'>): Promise<Answer> {
  const began = performance.now()
  const answer = await fetch(url, { method: 'POST', body: body ?? null, headers: headers ?? {} })
  const text = await answer.text()
  const code = answer.headers.get('x-gw-error') ?? ''
  return { status: answer.status, code, text, ms: performance.now() - began }
}

/** A real gateway with a route for each policy, before an origin that says what reached it. */
async function serve(t: TestContext): Promise<{ gateway: RunningGateway; reached: () => number }> {
  let reached = 0
  const target = await origin(t, (req, res) => {
    reached++
    req.pipe(res.writeHead(200, { 'content-type': 'text/xml' }))
  })
  const routes = Object.entries(ROUTES).map(([id, policy]) => ({
    id,
    match: { path: `/${id}` },
    upstream: 'up',
    policies: [policy],
  }))
  const document = {
    version: 1,
    listeners: [{ address: '127.0.0.1:0' }],
    admin: { address: '127.0.0.1:0' },
    workers: 1,
    upstreams: { up: { targets: [target] } },
    routes,
    log: { sink: 'none' },
  }
  return { gateway: await startGateway(t, JSON.stringify(document)), reached: () => reached }
}

/** What a policy, or one of the two threads for large bodies, loads when it first runs is no part of an attack. */
async function warmUp(url: string): Promise<void> {
  const xml = { body: `<a>${'<b>y</b>'.repeat(10_000)}</a>`, headers: { 'content-type': 'text/xml' } }
  const json = {
    body: JSON.stringify({ a: 'a'.repeat(80_000) }),
    headers: { 'content-type': 'application/json' },
  }
  for (const route of Object.keys(ROUTES)) {
    for (const message of [{ ...xml, body: '<a/>' }, { ...json, body: '{}' }, xml, json])
      await Promise.all(Array.from({ length: 4 }, () => send(`${url}/${route}`, message)))
  }
}

test('the real gateway rejects attacks before they reach the upstream, and the worker stays healthy', async (t) => {
  const { gateway, reached } = await serve(t)
  const order = '<m:order xmlns:m="urn:shop">7 widgets</m:order>'
  const plain = { body: `<s:Envelope xmlns:s="${SOAP}"><s:Body>${order}</s:Body></s:Envelope>` }
  const xml = { 'content-type': 'text/xml' }
  const signed = await send(`${gateway.url}/signing`, { ...plain, headers: xml })
  assert.equal(signed.status, 200, signed.text)
  const fine = { body: signed.text, headers: xml }
  const passed = await send(`${gateway.url}/wss`, fine)
  assert.equal(passed.status, 200, passed.text)
  await warmUp(gateway.url)
  const { pid } = (await statusOf(gateway.admin)).workers[0]!
  const before = reached()
  const failures: string[] = []
  for (const { name, routes, codes, ...message } of attacks(signed.text)) {
    for (const route of routes) {
      const growth = watchGrowth(pid!)
      const { status, code, ms } = await send(`${gateway.url}/${route}`, message)
      const megabytes = growth() / MEGABYTE
      const row = `${route}: ${name}: ${status} ${code}, ${ms.toFixed(0)} ms, ${megabytes.toFixed(1)} MB`
      t.diagnostic(row)
      if (status < 400 || !codes.includes(code) || growth() > MAX_GROWTH) failures.push(row)
    }
  }
  assert.deepEqual(failures, [])
  assert.equal(reached(), before)
  const worker = async () => (await statusOf(gateway.admin)).workers[0]!
  await until(async () => (await worker()).inFlight === 0)
  assert.equal((await worker()).pid, pid)
  assert.equal((await send(`${gateway.url}/wss`, fine)).status, 200)
})
