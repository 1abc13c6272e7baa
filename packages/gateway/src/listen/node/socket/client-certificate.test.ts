import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import http2 from 'node:http2'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import tls from 'node:tls'
import { FAKE_CERTIFICATES } from '../../../admin/testing/test-certificate.js'
import { serve } from '../../../document-keys/testing/key-tests.js'
import type { TestGateway } from '../../../testing/gateway.js'
import { certificateFiles } from '../../testing/certificate-files.js'

interface Client {
  readonly cert: string
  readonly key: string
  readonly certFile: string
  readonly facts: X509Certificate
}

/** A client with a self-signed certificate. @param names such as `DNS.1=a.example`. */
function client(t: TestContext, subject: string, ...names: string[]): Client {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-client-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [certFile, keyFile, config] = ['cert.pem', 'key.pem', 'config'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const sections = ['[req]', 'distinguished_name=dn', 'x509_extensions=more', '[dn]', '[more]']
  writeFileSync(config, [...sections, 'subjectAltName=@names', '[names]', ...names, ''].join('\n'))
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']
  const what = ['-days', '30', '-utf8', '-subj', subject, '-config', config]
  const command = ['req', '-x509', '-nodes', ...curve, ...what, '-keyout', keyFile, '-out', certFile]
  const { status, stderr } = spawnSync('openssl', command, { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  const cert = readFileSync(certFile, 'utf8')
  return { cert, key: readFileSync(keyFile, 'utf8'), certFile, facts: new X509Certificate(cert) }
}

/** Answers 204 to clients that satisfy the condition, 404 to others. */
function gatewayFor(t: TestContext, { certFile }: Client, when: string): Promise<TestGateway> {
  const listener = { engine: 'node', tls: { ...certificateFiles(t), clientCaFile: certFile } }
  return serve(t, {
    listener,
    routes: [{ id: 'known', match: { path: '/*', when }, respond: { status: 204 } }],
  })
}

function status(
  { port }: TestGateway,
  { cert, key }: Client,
  options: https.RequestOptions = {},
): Promise<number> {
  return new Promise((resolve, reject) => {
    https
      .get({
        port,
        host: '127.0.0.1',
        agent: false,
        cert,
        key,
        ca: FAKE_CERTIFICATES.localhost.cert,
        ...options,
      })
      .on('response', (response) => resolve(response.resume().statusCode!))
      .on('error', reject)
  })
}

test("conditions can use the names in the client's certificate", async (t) => {
  const billing = client(t, '/O=Example, Ltd/CN=billing', 'DNS.1=a.example', 'URI.1=spiffe://example/billing')
  const all = [
    String.raw`client.certSubject == "CN=billing,O=Example\\, Ltd"`,
    String.raw`client.certIssuer == "CN=billing,O=Example\\, Ltd"`,
    `client.certSerial == "${billing.facts.serialNumber}"`,
    `client.certFingerprint == "${billing.facts.fingerprint256.replaceAll(':', '').toLowerCase()}"`,
    'client.certNames.exists(name, name == "URI:spiffe://example/billing")',
    'size(client.certNames) == 2',
  ]
  for (const when of all) assert.equal(await status(await gatewayFor(t, billing, when), billing), 204, when)
})

test('a name that looks like two names is one', async (t) => {
  const sly = client(t, '/CN=sly', 'URI.1=http://x/, DNS:admin.example')
  const isAdmin = await gatewayFor(t, sly, 'client.certNames.exists(name, name == "DNS:admin.example")')
  assert.equal(await status(isAdmin, sly), 404)
  const isItself = 'client.certNames.exists(name, name == "URI:http://x/, DNS:admin.example")'
  assert.equal(await status(await gatewayFor(t, sly, isItself), sly), 204)
})

test('a resumed session and HTTP/2 have the certificate, too', async (t) => {
  const app = client(t, '/CN=app', 'DNS.1=app.example')
  const gateway = await gatewayFor(t, app, 'client.certSubject == "CN=app"')
  const options = {
    port: gateway.port,
    host: '127.0.0.1',
    cert: app.cert,
    key: app.key,
    rejectUnauthorized: false,
  }
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const first = tls.connect({ ...options, maxVersion })
    first.end('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n').resume()
    const [session] = (await once(first, 'session')) as [Buffer]
    const socket = tls.connect({ ...options, maxVersion, session })
    await once(socket, 'secureConnect')
    assert.equal(socket.isSessionReused(), true)
    socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
    const [head] = (await once(socket, 'data')) as [Buffer]
    assert.match(head.toString(), /^HTTP\/1.1 204/)
    socket.destroy()
    first.destroy()
  }
  const session = http2.connect(`https://127.0.0.1:${gateway.port}`, options)
  t.after(() => session.destroy())
  const stream = session.request({ ':path': '/' }).resume()
  const [fields] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders]
  assert.equal(fields[':status'], 204)
})

test('a listener that requests no certificate has none, even if the client has one', async (t) => {
  const app = client(t, '/CN=app', 'DNS.1=app.example')
  const listener = { engine: 'node', tls: certificateFiles(t) }
  const match = { path: '/*', when: 'client.certSubject == "CN=app"' }
  const gateway = await serve(t, { listener, routes: [{ id: 'known', match, respond: { status: 204 } }] })
  assert.equal(await status(gateway, app), 404)
})
