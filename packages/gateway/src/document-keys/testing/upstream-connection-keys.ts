import assert from 'node:assert/strict'
import { createHash, X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { FAKE_CERTIFICATES } from '../../admin/testing/test-certificate.js'
import { bodies, type Effect, named, serve } from './key-tests.js'

async function listening(t: TestContext, server: http.Server | https.Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** Starts a proxy that opens tunnels for requests with the required header. */
async function connectProxy(
  t: TestContext,
  authorization?: string,
): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = []
  const server = http.createServer()
  server.on('connect', (req, client: Socket) => {
    const brought = req.headers['proxy-authorization']
    asked.push(`${req.url} ${brought ?? 'none'}`)
    client.on('error', () => {})
    if (brought !== authorization) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
      return
    }
    const [host, port] = req.url!.split(':')
    const target = connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n')
      target.pipe(client).pipe(target)
    })
    target.on('error', () => client.destroy())
    t.after(() => target.destroy())
    t.after(() => client.destroy())
  })
  return { url: `http://127.0.0.1:${await listening(t, server)}`, asked }
}

async function secureOrigin(t: TestContext): Promise<string> {
  const options = { ...FAKE_CERTIFICATES.localhost, requestCert: true, rejectUnauthorized: false }
  const server = https.createServer(options, (req, res) => {
    const { subject } = (req.socket as TLSSocket).getPeerCertificate()
    res.end(`client ${subject?.CN ?? 'unknown'}`)
  })
  return `https://localhost:${await listening(t, server)}`
}

function files(t: TestContext): { readonly cert: string; readonly key: string } {
  const dir = mkdtempSync(join(tmpdir(), 'gw-keys-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const [cert, key] = [join(dir, 'cert.pem'), join(dir, 'key.pem')]
  writeFileSync(cert, FAKE_CERTIFICATES.localhost.cert)
  writeFileSync(key, FAKE_CERTIFICATES.localhost.key)
  return { cert, key }
}

/** Returns the response of a gateway in front of a TLS target. */
async function sealed(t: TestContext, tls: object): Promise<string> {
  const gateway = await serve(t, { upstream: { targets: [await secureOrigin(t)], tls } })
  return (await fetch(gateway.url)).text()
}

const clientCertificate: Effect = async (t) => {
  const { cert, key } = files(t)
  assert.equal(await sealed(t, { caFile: cert }), 'client unknown')
  assert.match(await sealed(t, { caFile: cert, certFile: cert, keyFile: key }), /^client (?!unknown)/)
}

const proxyCredentials: Effect = async (t) => {
  const proxy = await connectProxy(t, `Basic ${btoa('gw:secret')}`)
  const upstream = { targets: [(await named(t, 'a')).url] }
  for (const [credentials, status] of [
    [{ username: 'gw', password: 'secret' }, 200],
    [{ username: 'gw', password: 'other' }, 502],
    [{ username: 'other', password: 'secret' }, 502],
    [{}, 502],
  ] as const) {
    const gateway = await serve(t, { upstream: { ...upstream, proxy: { url: proxy.url, ...credentials } } })
    assert.equal((await fetch(gateway.url)).status, status)
  }
}

/** Tests of the keys of `tls`, `proxy` and `http2`. */
export const connectionKeys: Readonly<Record<string, Effect>> = {
  'tls.caFile': async (t) => {
    assert.match(await sealed(t, {}), /GW_UPSTREAM_TLS/)
    assert.equal(await sealed(t, { caFile: files(t).cert }), 'client unknown')
  },
  'tls.certFile': clientCertificate,
  'tls.keyFile': clientCertificate,
  'tls.servername': async (t) => {
    assert.match(await sealed(t, { caFile: files(t).cert, servername: 'shop.example' }), /GW_UPSTREAM_TLS/)
  },
  'tls.insecure': async (t) => {
    assert.equal(await sealed(t, { insecure: true }), 'client unknown')
  },
  'tls.minVersion': async (t) => {
    const options = { ...FAKE_CERTIFICATES.localhost, maxVersion: 'TLSv1.2' as const }
    const server = https.createServer(options, (_, res) => void res.end('old'))
    const targets = [`https://localhost:${await listening(t, server)}`]
    const caFile = files(t).cert
    for (const [minVersion, answer] of [
      ['TLSv1.2', /^old$/],
      ['TLSv1.3', /GW_UPSTREAM_TLS/],
    ] as const) {
      const gateway = await serve(t, { upstream: { targets, tls: { caFile, minVersion } } })
      assert.match(await (await fetch(gateway.url)).text(), answer)
    }
  },
  'tls.pins': async (t) => {
    const { publicKey } = new X509Certificate(FAKE_CERTIFICATES.localhost.cert)
    const der = publicKey.export({ type: 'spki', format: 'der' })
    const pin = `sha256/${createHash('sha256').update(der).digest('base64')}`
    const other = `sha256/${createHash('sha256').digest('base64')}`
    const caFile = files(t).cert
    assert.equal(await sealed(t, { caFile, pins: [other, pin] }), 'client unknown')
    assert.match(await sealed(t, { caFile, pins: [other] }), /GW_UPSTREAM_TLS/)
    assert.match(await sealed(t, { insecure: true, pins: [other] }), /GW_UPSTREAM_TLS/)
  },
  'proxy.url': async (t) => {
    const proxy = await connectProxy(t)
    const plain = await serve(t, {
      upstream: { targets: [(await named(t, 'a')).url], proxy: { url: proxy.url } },
    })
    assert.deepEqual(await bodies(plain.url, 1), ['a'])
    const targets = [await secureOrigin(t)]
    const secure = await serve(t, {
      upstream: { targets, proxy: { url: proxy.url }, tls: { caFile: files(t).cert } },
    })
    assert.deepEqual(await bodies(secure.url, 1), ['client unknown'])
    assert.equal(proxy.asked[1], `${targets[0]!.slice('https://'.length)} none`)
    // No server listens on port 1. The proxy is at fault, not the target.
    const lost = await serve(t, { upstream: { targets, proxy: { url: 'http://127.0.0.1:1' } } })
    assert.match((await bodies(lost.url, 1))[0]!, /the outbound proxy is unreachable/)
  },
  'proxy.username': proxyCredentials,
  'proxy.password': proxyCredentials,
  'http2.priorKnowledge': async (t) => {
    const server = http2.createServer((req, res) => void res.end(req.httpVersion))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => server.close())
    const targets = [`http://127.0.0.1:${(server.address() as AddressInfo).port}`]
    const gateway = await serve(t, {
      upstream: { targets, http2: { priorKnowledge: true }, keepAlive: '20ms' },
    })
    assert.deepEqual(await bodies(gateway.url, 1), ['2.0'])
    assert.equal((await fetch((await serve(t, { upstream: { targets } })).url)).status, 502)
  },
  'http2.alpn': async (t) => {
    const server = http2.createSecureServer(
      FAKE_CERTIFICATES.localhost,
      (req, res) => void res.end(req.httpVersion),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => server.close())
    const targets = [`https://localhost:${(server.address() as AddressInfo).port}`]
    const tls = { insecure: true }
    const gateway = await serve(t, { upstream: { targets, http2: { alpn: true }, tls, keepAlive: '20ms' } })
    assert.deepEqual(await bodies(gateway.url, 1), ['2.0'])
    // An https target with HTTP/1.1 only works too.
    const upstream = {
      targets: [await secureOrigin(t)],
      http2: { alpn: true },
      tls: { caFile: files(t).cert },
    }
    assert.deepEqual(await bodies((await serve(t, { upstream })).url, 1), ['client unknown'])
  },
}
