import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { catalog } from '@sluice/policies'
import { startGateway } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'

const SCHEMA = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:o" elementFormDefault="qualified">
  <xs:element name="orders"><xs:complexType><xs:sequence>
    <xs:element name="order" maxOccurs="unbounded" type="xs:positiveInteger"/>
  </xs:sequence></xs:complexType></xs:element>
</xs:schema>`

function orders(count: number, content = '7'): string {
  return `<orders xmlns="urn:o">\n${`<order>${content}</order>\n`.repeat(count)}</orders>`
}

const SOAP = 'http://schemas.xmlsoap.org/soap/envelope/'

function envelope(body: string): string {
  return `<s:Envelope xmlns:s="${SOAP}"><s:Body>${body}</s:Body></s:Envelope>`
}

interface Seen {
  readonly body: string
  readonly validation: string | undefined
}

/** Starts a gateway in front of an origin that echoes requests, or responds as the test says. */
async function serve(t: TestContext, config: object, reply?: string) {
  const seen: Seen[] = []
  const origin = await httpOrigin(t, async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    seen.push({ body, validation: req.headers['x-gw-validation'] as string | undefined })
    res.writeHead(200, { 'content-type': 'text/xml' }).end(reply ?? body)
  })
  const policies = [
    {
      id: 'xsd',
      use: 'xsd',
      with: { schemas: [{ inline: SCHEMA }], ...config },
      when: null,
      onError: 'fail' as const,
    },
  ]
  const gateway = await startGateway(
    t,
    { upstreams: [{ urls: [origin.url] }], routes: [{ id: 'all', policies }] },
    { catalog },
  )
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(gateway.url, { method: 'POST', body, headers: { 'content-type': 'text/xml', ...headers } })
  return { seen, post }
}

test('a valid document reaches the upstream as it was sent, another one does not', async (t) => {
  const { seen, post } = await serve(t, {})
  const passed = await post(orders(3))
  assert.equal(passed.status, 200)
  assert.equal(await passed.text(), orders(3))
  const refused = await post(orders(3, 'x'))
  assert.equal(refused.status, 400)
  assert.equal(refused.headers.get('x-gw-error'), 'GW_SCHEMA_INVALID')
  assert.match(await refused.text(), /line 2, .*Element 'order'.*xs:positiveInteger/)
  const malformed = await post('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>')
  assert.equal(malformed.headers.get('x-gw-error'), 'GW_BODY_UNPARSABLE')
  assert.match(await malformed.text(), /DOCTYPE/)
  assert.equal(seen.length, 1)
})

test('a large document is validated on a thread', async (t) => {
  const { seen, post } = await serve(t, {})
  const large = orders(5000)
  assert.equal(await (await post(large)).text(), large)
  const refused = await post(large.replace('<order>7</order>\n</orders>', '<order>0</order>\n</orders>'))
  assert.equal(refused.status, 400)
  assert.match(await refused.text(), /line 5001, /)
  assert.equal((await post(large.slice(0, -1))).headers.get('x-gw-error'), 'GW_BODY_UNPARSABLE')
  assert.equal(seen.length, 1)
})

test('the envelope of a SOAP message is unwrapped, and a refusal is a fault', async (t) => {
  const { post } = await serve(t, { select: 'soap-body' })
  assert.equal((await post(envelope(orders(1)))).status, 200)
  const refused = await post(envelope(orders(1, 'x')))
  assert.equal(refused.headers.get('x-gw-error'), 'GW_SCHEMA_INVALID')
  assert.equal((await post(envelope(orders(1) + orders(1)))).headers.get('x-gw-error'), 'GW_SCHEMA_INVALID')
  assert.equal((await post(orders(1))).headers.get('x-gw-error'), 'GW_SCHEMA_INVALID')
})

test('a response that is not valid does not reach the client', async (t) => {
  const { post } = await serve(t, { phase: 'response' }, orders(1, 'secret'))
  const refused = await post('anything')
  assert.equal(refused.status, 502)
  assert.equal(refused.headers.get('x-gw-error'), 'GW_RESPONSE_INVALID')
  assert.doesNotMatch(await refused.text(), /secret|order'/)
  const valid = await serve(t, { phase: 'both' }, orders(5000))
  assert.equal(await (await valid.post(orders(1))).text(), orders(5000))
})

test('report mode marks what is not valid for the upstream and for the client', async (t) => {
  const { seen, post } = await serve(t, { mode: 'report', phase: 'both' })
  const passed = await post(orders(1, 'x'), { 'x-gw-validation': 'passed' })
  assert.equal(passed.status, 200)
  assert.equal(passed.headers.get('x-gw-validation'), 'failed')
  const valid = await post(orders(1), { 'x-gw-validation': 'passed' })
  assert.equal(valid.headers.get('x-gw-validation'), null)
  assert.deepEqual(
    seen.map(({ validation }) => validation),
    ['failed', undefined],
  )
})

test('a body with an endless pattern match is ended with its thread', {
  timeout: 60_000,
}, async (t) => {
  const slow = SCHEMA.replace(
    'type="xs:positiveInteger"/>',
    '><xs:simpleType><xs:restriction base="xs:string"><xs:pattern value="(x+x+)+y"/></xs:restriction></xs:simpleType></xs:element>',
  )
  const { seen, post } = await serve(t, { schemas: [{ inline: slow }] })
  assert.equal((await post(orders(1, 'xxy'))).status, 200)
  // Each is below the limits of libxml2, and all of them would take hours.
  const ended = await post(orders(20_000, 'x'.repeat(22)))
  assert.equal(ended.status, 500)
  assert.equal(ended.headers.get('x-gw-error'), 'GW_POLICY_ERROR')
  assert.equal((await post(orders(1, 'xxy'))).status, 200)
  assert.equal(seen.length, 2)
})
