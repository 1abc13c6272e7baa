import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import https from 'node:https'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadDocument } from '@sluice/config'
import { catalog } from '@sluice/policies'
import { makeCertificate, type Pair } from '@sluice/policies/testing'
import { serve } from '../document-keys/testing/key-tests.js'
import { certificateFiles } from '../listen/testing/certificate-files.js'

const who = { use: 'header', with: { response: { set: { 'x-who': '{{consumer.id}}' } } } }

function route(mtls: object): object {
  return { id: 'all', respond: { status: 200 }, policies: [{ use: 'mtls', with: mtls }, who] }
}

function ask(port: number, pair?: Pair): Promise<string> {
  const own = pair === undefined ? {} : { cert: pair.certificatePem, key: pair.keyPem }
  return new Promise((resolve) => {
    https
      .get({ port, host: '127.0.0.1', agent: false, rejectUnauthorized: false, ...own })
      .on('response', (response) => {
        resolve(
          `${response.resume().statusCode} ${response.headers['x-who'] ?? response.headers['x-gw-error']}`,
        )
      })
      .on('error', () => resolve('no connection'))
  })
}

test('a certificate verified by the listener identifies a consumer', async (t) => {
  const authority = makeCertificate({ name: 'Test CA', kind: 'ec', isAuthority: true })
  const files = certificateFiles(t)
  const clientCaFile = join(files.certFile, '../ca.pem')
  writeFileSync(clientCaFile, authority.certificatePem)
  const tls = { ...files, clientCaFile, clientCertificate: 'optional' }
  const mtls = { consumers: [{ id: 'acme', subject: 'CN=app,O=Sluice tests' }] }
  const { port } = await serve(t, { listener: { engine: 'node', tls }, routes: [route(mtls)], catalog })
  const client = (name: string): Pair => makeCertificate({ name, kind: 'ec', issuer: authority })
  assert.equal(await ask(port, client('app')), '200 acme')
  assert.equal(await ask(port, client('other')), '401 GW_AUTH_INVALID')
  assert.equal(await ask(port), '401 GW_AUTH_MISSING')
  assert.equal(await ask(port, makeCertificate({ name: 'app', kind: 'ec' })), 'no connection')
})

for (const engine of ['uws', 'node'] as const) {
  test(`a forwarded certificate counts from trusted proxies alone (${engine})`, async (t) => {
    const value = `Hash=${'ab'.repeat(32)};Subject="CN=app"`
    for (const [trustedProxies, expected] of [
      [['127.0.0.0/8'], '200 app'],
      [['10.0.0.0/8'], '401 null'],
    ] as const) {
      const routes = [route({ from: 'xfcc', idFrom: 'common-name' })]
      const gateway = await serve(t, { listener: { engine, trustedProxies }, routes, catalog })
      for (const field of ['x-forwarded-client-cert', 'X-Forwarded-Client-Cert']) {
        const { status, headers } = await fetch(gateway.url, { headers: { [field]: value } })
        assert.equal(`${status} ${headers.get('x-who')}`, expected)
      }
      const { status } = await fetch(gateway.url, { headers: { x_forwarded_client_cert: value } })
      assert.equal(status, 401)
    }
  })
}

test('a document none of whose listeners can provide the certificates is refused', (t) => {
  const tls = certificateFiles(t)
  const mistakes = (listener: object, mtls: object): string => {
    const document = {
      version: 1,
      listeners: [{ address: '127.0.0.1:8080' }, { address: '127.0.0.1:8081', ...listener }],
      routes: [route(mtls)],
    }
    const result = loadDocument(
      { text: JSON.stringify(document), name: 'gateway.yaml' },
      { catalog, env: {} },
    )
    return result.ok ? '' : result.diagnostics.map(({ message, remedy }) => `${message} (${remedy})`).join()
  }
  const idFrom = 'common-name'
  assert.match(
    mistakes({ tls }, { idFrom }),
    /which engine: uws does not support \(set engine: node and tls\.clientCaFile/,
  )
  assert.match(
    mistakes({ engine: 'node', tls }, { idFrom }),
    /no listener requests them \(set tls\.clientCaFile/,
  )
  assert.equal(mistakes({ engine: 'node', tls: { ...tls, clientCaFile: tls.certFile } }, { idFrom }), '')
  const xfcc = { from: 'xfcc', idFrom }
  assert.match(mistakes({}, xfcc), /no listener trusts a proxy to set it/)
  assert.match(
    mistakes({ trustedProxies: ['10.0.0.1'], forwardedHeader: 'forwarded' }, xfcc),
    /no listener trusts a proxy to set it/,
  )
  assert.equal(mistakes({ trustedProxies: ['10.0.0.1'] }, xfcc), '')
})
