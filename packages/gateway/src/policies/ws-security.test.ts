import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { catalog } from '@sluice/policies'
import { makeCertificate } from '@sluice/policies/testing'
import { startGateway } from '../testing/gateway.js'
import { httpOrigin } from '../testing/origin.js'

const client = makeCertificate({ name: 'client' })
const server = makeCertificate({ name: 'server' })
const SOAP = 'http://schemas.xmlsoap.org/soap/envelope/'
const user = { name: 'ana', password: 'correct horse' }

/** Policies of the client side, and expectations of the other side. */
const CLIENT = {
  request: {
    add: {
      timestamp: {},
      usernameToken: user,
      signature: { key: client.keyPem, certificate: client.certificatePem },
      encryption: { certificate: server.certificatePem },
    },
  },
  response: {
    check: {
      timestamp: {},
      signature: { certificates: [{ id: 'server', certificate: server.certificatePem }] },
    },
  },
}
const SERVER = {
  request: {
    check: {
      timestamp: {},
      usernameToken: { users: [user] },
      signature: { certificates: [{ id: 'client', certificate: client.certificatePem }] },
      decryption: { keys: [{ key: server.keyPem }] },
    },
  },
  response: {
    add: {
      timestamp: {},
      signature: { key: server.keyPem, certificate: server.certificatePem },
    },
  },
}

function envelope(content: string): string {
  return `<s:Envelope xmlns:s="${SOAP}"><s:Body>${content}</s:Body></s:Envelope>`
}

async function gatewayBefore(t: TestContext, url: string, config: object) {
  const policies = [{ id: 'wss', use: 'ws-security', with: config, when: null, onError: 'fail' as const }]
  return startGateway(t, { upstreams: [{ urls: [url] }], routes: [{ id: 'all', policies }] }, { catalog })
}

/** Starts an origin that echoes and records requests. */
async function echo(t: TestContext) {
  const seen: string[] = []
  const origin = await httpOrigin(t, async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    seen.push(Buffer.concat(chunks).toString())
    res.writeHead(200, { 'content-type': 'text/xml' }).end(seen.at(-1))
  })
  return { url: origin.url, seen }
}

function post(url: string, body: string): Promise<Response> {
  return fetch(url, { method: 'POST', body, headers: { 'content-type': 'text/xml', soapaction: '""' } })
}

for (const lines of [1, 2000]) {
  test(`one gateway signs and encrypts ${lines} orders for another, which checks them and signs the answer`, async (t) => {
    const origin = await echo(t)
    const inner = await gatewayBefore(t, origin.url, SERVER)
    const outer = await gatewayBefore(t, inner.url, CLIENT)
    const orders = '<m:order xmlns:m="urn:shop">7 widgets</m:order>'.repeat(lines)
    const answer = await post(outer.url, envelope(orders))
    const text = await answer.text()
    assert.equal(answer.status, 200, text)
    for (const received of [origin.seen[0]!, text]) {
      assert.ok(received.includes(orders))
      assert.doesNotMatch(received, /Security|Encrypted/)
    }
  })
}

test('a message without a header gets a fault and never reaches the upstream', async (t) => {
  const origin = await echo(t)
  const { url } = await gatewayBefore(t, origin.url, SERVER)
  const answer = await post(url, envelope('<a/>'))
  assert.equal(answer.status, 500)
  assert.equal(answer.headers.get('x-gw-error'), 'GW_WSS_FAILED')
  assert.equal(answer.headers.get('content-type'), 'text/xml; charset=utf-8')
  assert.match(await answer.text(), /<faultcode>wsse:InvalidSecurity<\/faultcode>/)
  assert.deepEqual(origin.seen, [])
})

test('an answer that nobody signed does not reach the client', async (t) => {
  const origin = await echo(t)
  const { url } = await gatewayBefore(t, origin.url, { response: CLIENT.response })
  const answer = await post(url, envelope('<a/>'))
  assert.equal(answer.status, 502)
  assert.match(await answer.text(), /GW_RESPONSE_INVALID/)
})

test('what is no SOAP is refused before its body is read', async (t) => {
  const origin = await echo(t)
  const { url } = await gatewayBefore(t, origin.url, SERVER)
  const answer = await fetch(url, {
    method: 'POST',
    body: '{}',
    headers: { 'content-type': 'application/json' },
  })
  assert.equal(answer.status, 415)
})
