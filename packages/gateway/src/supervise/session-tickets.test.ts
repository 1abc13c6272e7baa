import assert from 'node:assert/strict'
import { test } from 'node:test'
import tls from 'node:tls'
import { FAKE_CERTIFICATES } from '../admin/testing/test-certificate.js'
import { certificateFiles } from '../listen/testing/certificate-files.js'
import { GatewayProcess } from './testing/gateway-process.js'
import { until } from './testing/until.js'

/** A request over a new connection, with its TLS session. */
async function request(port: string, session?: Buffer): Promise<{ isReused: boolean; session: Buffer }> {
  const { cert, key } = FAKE_CERTIFICATES.renewed
  const socket = tls.connect({ port: Number(port), cert, key, rejectUnauthorized: false, session })
  socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  let [given, text, isReused, isClosed]: [Buffer | undefined, string, boolean, boolean] = [
    undefined,
    '',
    false,
    false,
  ]
  socket.on('secureConnect', () => (isReused = socket.isSessionReused()))
  socket.on('session', (next: Buffer) => (given = next)).on('data', (chunk) => (text += String(chunk)))
  socket.on('close', () => (isClosed = true))
  await until(() => isClosed)
  assert.match(text, /^HTTP\/1\.1 200 .*known$/s)
  return { isReused, session: given! }
}

test('a session resumes at every worker, after a reload, and at replaced workers', async (t) => {
  const { certFile: clientCaFile } = certificateFiles(t, 'renewed')
  const listenerTls = JSON.stringify({ ...certificateFiles(t), clientCaFile })
  const document = (id: string): string => `
version: 1
listeners: [{ address: 127.0.0.1:0, engine: node, tls: ${listenerTls} }]
admin: { address: 127.0.0.1:0 }
log: { sink: none }
routes: [{ id: ${id}, match: { path: /*, when: 'client.certSubject == "CN=renewed"' }, respond: { status: 200, body: known } }]
`
  const options = { document: document('first'), workers: 2, kind: 'busy' } as const
  const gateway = await new GatewayProcess(t, options).started()
  const { port } = new URL(gateway.url)
  const { session } = await request(port)
  const countReused = async (): Promise<number> => {
    const results = []
    for (let i = 0; i < 20; i++) results.push(await request(port, session))
    return results.filter(({ isReused }) => isReused).length
  }
  assert.equal(await countReused(), 20)

  assert.equal((await gateway.put(document('second'))).status, 200)
  assert.equal(await countReused(), 20)

  const { workers } = await gateway.status()
  for (const { pid } of workers) process.kill(pid!, 'SIGKILL')
  await until(async () => {
    const now = (await gateway.status()).workers
    return now.every(({ pid, state }, i) => state === 'ready' && pid !== workers[i]!.pid)
  })
  assert.equal(await countReused(), 20)
})
