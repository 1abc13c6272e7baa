import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import net, { type AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import tls from 'node:tls'
import type { ListenerTlsPlan } from '@sluice/config'
import { FAKE_CERTIFICATES } from '../../../admin/testing/test-certificate.js'
import { until } from '../../../testing/gateway.js'
import { certificateFiles, tlsPlan, writeCertificate } from '../../testing/certificate-files.js'
import { TlsServer } from './tls-server.js'

const VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const
const SECRET = new Uint8Array(32).fill(1)

interface Worker {
  readonly port: number
  readonly server: TlsServer
  secret: Uint8Array
}

/** A worker whose listener answers with the common name of the client certificate. */
async function worker(
  t: TestContext,
  plan: ListenerTlsPlan,
  secret = SECRET,
  address = 'a:1',
): Promise<Worker> {
  const started = { secret }
  const server = new TlsServer({
    plan,
    address,
    ticketSecret: () => started.secret,
    hasHttp2: () => false,
    handshakeMs: 10_000,
    onFault: (error) => assert.fail(String(error)),
    onRenewal: () => {},
  })
  server.onSecure((socket) => {
    const certificate = socket.getPeerX509Certificate()
    socket.on('error', () => {}).end(`${socket.authorized} ${certificate?.subject ?? 'none'}`)
  })
  const sockets = net.createServer((socket) => server.accept(socket.on('error', () => {})))
  sockets.listen(0, '127.0.0.1')
  await once(sockets, 'listening')
  t.after(() => {
    server.close()
    sockets.close()
  })
  return Object.assign(started, { server, port: (sockets.address() as AddressInfo).port })
}

interface Visit {
  readonly session: Buffer | null
  readonly isReused: boolean
  /** The listener's answer, empty if it refuses the connection. */
  readonly text: string
}

/** Connects and reads until the connection ends. */
async function visit({ port }: Worker, options: tls.ConnectionOptions): Promise<Visit> {
  const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options })
  let session: Buffer | null = null
  let text = ''
  let isReused = false
  let isClosed = false
  socket.on('session', (given: Buffer) => (session = given))
  socket.on('secureConnect', () => (isReused = socket.isSessionReused()))
  socket.on('data', (chunk) => (text += String(chunk)))
  socket.on('error', () => {}).on('close', () => (isClosed = true))
  await until(() => isClosed)
  return { session, isReused, text }
}

/** Gets a session at one worker and offers it to another. */
async function resume(
  from: Worker,
  to: Worker,
  first: tls.ConnectionOptions,
  second: tls.ConnectionOptions = first,
): Promise<Visit> {
  const { session } = await visit(from, first)
  assert.ok(session !== null)
  return visit(to, { ...second, session })
}

for (const maxVersion of VERSIONS) {
  test(`${maxVersion}: a session resumes at every worker and keeps the client certificate`, async (t) => {
    const { certFile: clientCaFile } = certificateFiles(t, 'renewed')
    const plan = tlsPlan(certificateFiles(t), {
      clientCaFile,
      certificates: [{ ...certificateFiles(t), serverNames: ['a.test', 'b.test'] }],
    })
    const workers = [await worker(t, plan), await worker(t, plan)] as const
    const client = { ...FAKE_CERTIFICATES.renewed, maxVersion }
    for (const [first, second] of [
      ['', ''],
      ['a.test', 'a.test'],
      ['a.test', 'b.test'],
    ] as const) {
      const visited = await resume(
        ...workers,
        { ...client, servername: first },
        { maxVersion, servername: second }, // the certificate is that of the session
      )
      assert.deepEqual([visited.isReused, visited.text], [true, 'true CN=renewed'], `${first} ${second}`)
    }
  })

  test(`${maxVersion}: a session without a client certificate does not resume where one is required`, async (t) => {
    const files = certificateFiles(t)
    const { certFile: clientCaFile } = certificateFiles(t, 'renewed')
    const strict = await worker(t, tlsPlan(files, { clientCaFile }))
    const open = [{}, { clientCaFile, clientCertificate: 'optional' }] as const
    for (const settings of open) {
      const lax = await worker(t, tlsPlan(files, settings))
      const again = await resume(lax, lax, { maxVersion })
      assert.deepEqual([again.isReused, again.text.endsWith('none')], [true, true])
      const visited = await resume(lax, strict, { maxVersion })
      assert.deepEqual([visited.isReused, visited.text], [false, ''])
    }
  })

  test(`${maxVersion}: a session of an unverified client certificate is refused`, async (t) => {
    const { certFile: clientCaFile } = certificateFiles(t, 'renewed')
    const plan = tlsPlan(certificateFiles(t), { clientCaFile, clientCertificate: 'optional' })
    const strict = await worker(t, plan)
    const client = { ...FAKE_CERTIFICATES.localhost, maxVersion }
    const { session, text } = await visit(strict, client)
    assert.equal(text, '')
    // TLS 1.3 sends tickets before it is known that the certificate is refused.
    if (session !== null) assert.equal((await visit(strict, { maxVersion, session })).text, '')
  })

  test(`${maxVersion}: a session ends with its secret, certificates, client CA and address`, async (t) => {
    const files = certificateFiles(t)
    const { certFile: clientCaFile } = certificateFiles(t, 'renewed')
    const plan = tlsPlan(files, { clientCaFile })
    const first = await worker(t, plan)
    const client = { ...FAKE_CERTIFICATES.renewed, maxVersion }
    const { session } = await visit(first, client)
    const isReused = async (at: Worker): Promise<boolean> => {
      const visited = await visit(at, { ...client, session: session! })
      assert.match(visited.text, /^true /)
      return visited.isReused
    }
    assert.equal(await isReused(first), true)
    assert.equal(await isReused(await worker(t, plan)), true)
    assert.equal(await isReused(await worker(t, plan, SECRET, 'a:2')), false, 'address')
    first.secret = new Uint8Array(32)
    first.server.refresh()
    assert.equal(await isReused(first), false, 'secret')
    first.secret = SECRET
    first.server.refresh()
    assert.equal(await isReused(first), true)
    const { renewed, localhost } = FAKE_CERTIFICATES
    writeFileSync(clientCaFile, `${renewed.cert}\n${localhost.cert}`)
    first.server.refresh()
    assert.equal(await isReused(first), false, 'client CA')
    writeFileSync(clientCaFile, renewed.cert)
    first.server.refresh()
    assert.equal(await isReused(first), true)
    writeCertificate(files, 'renewed')
    first.server.refresh()
    assert.equal(await isReused(first), false, 'certificate')
  })
}
