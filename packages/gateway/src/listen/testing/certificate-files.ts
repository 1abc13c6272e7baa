import { execFile, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import tls from 'node:tls'
import type { KeyPairPlan, ListenerCertificatePlan, ListenerTlsPlan } from '@sluice/config'
import { FAKE_CERTIFICATES } from '../../admin/testing/test-certificate.js'
import { until } from '../../testing/gateway.js'

/** Names of the test certificates. Both are valid for localhost. */
export type CertificateName = keyof typeof FAKE_CERTIFICATES

/** Writes a certificate and its key to files, which are removed after the test. */
export function certificateFiles(t: TestContext, name: CertificateName = 'localhost'): KeyPairPlan {
  const dir = mkdtempSync(join(tmpdir(), 'gw-tls-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const files = { certFile: join(dir, 'cert.pem'), keyFile: join(dir, 'key.pem') }
  writeCertificate(files, name)
  return files
}

/** Replaces the certificate in the files. */
export function writeCertificate({ certFile, keyFile }: KeyPairPlan, name: CertificateName): void {
  writeFileSync(certFile, FAKE_CERTIFICATES[name].cert)
  writeFileSync(keyFile, FAKE_CERTIFICATES[name].key)
}

/** Creates a certificate authority, a certificate and its OCSP response with `openssl`. */
export function stapledFiles(t: TestContext): Required<ListenerCertificatePlan> {
  const dir = mkdtempSync(join(tmpdir(), 'gw-ocsp-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const openssl = (command: string): unknown =>
    execFileSync('openssl', command.split(' '), { cwd: dir, stdio: ['ignore', 'pipe', 'ignore'] })
  const key = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
  openssl(`req -x509 ${key} -days 30 -subj /CN=ca -keyout ca.key -out ca.pem`)
  openssl(`req ${key} -subj /CN=leaf -keyout key.pem -out leaf.csr`)
  openssl('x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -set_serial 0x00C0FFEE11 -days 30 -out cert.pem')
  writeFileSync(join(dir, 'index'), 'V\t991231000000Z\t\tC0FFEE11\tunknown\t/CN=leaf\n')
  const signer = '-index index -CA ca.pem -rsigner ca.pem -rkey ca.key'
  openssl(`ocsp ${signer} -issuer ca.pem -cert cert.pem -ndays 7 -respout ocsp.der`)
  const [certFile, keyFile, ocspFile] = ['cert.pem', 'key.pem', 'ocsp.der'].map((name) => join(dir, name))
  return { certFile: certFile!, keyFile: keyFile!, ocspFile: ocspFile! }
}

/** Returns what `openssl s_client -status` reports about the stapled OCSP response. */
export function stapledStatus(port: number, servername = 'localhost'): Promise<string> {
  const command = ['s_client', '-connect', `127.0.0.1:${port}`, '-servername', servername, '-status']
  return new Promise((resolve) => {
    execFile('openssl', command, (_error, stdout) => resolve(stdout)).stdin?.end()
  })
}

/** Returns TLS settings of a listener with these files and defaults for the rest. */
export function tlsPlan(files: KeyPairPlan, more: Partial<ListenerTlsPlan> = {}): ListenerTlsPlan {
  return {
    ...files,
    certificates: [],
    clientCaFile: null,
    clientCertificate: 'required',
    minVersion: 'TLSv1.2',
    ...more,
  }
}

/** Returns the common name of the server's certificate, or the error of the handshake. */
export function shownName(port: number, options: tls.ConnectionOptions = {}): Promise<string> {
  return new Promise((resolve) => {
    const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN))
      socket.destroy()
    })
    socket.on('error', (error) => resolve(`error ${error.message}`))
  })
}

/** Renegotiates with `openssl s_client`. Returns the number of handshakes, and true if the server refused. */
export async function renegotiate(
  t: TestContext,
  port: number,
): Promise<{ readonly handshakes: number; readonly isRefused: boolean }> {
  const program = spawn('openssl', ['s_client', '-connect', `127.0.0.1:${port}`, '-tls1_2', '-msg'])
  t.after(() => program.kill('SIGKILL'))
  let text = ''
  for (const stream of [program.stdout, program.stderr])
    stream.setEncoding('latin1').on('data', (chunk) => (text += chunk))
  program.stdin.on('error', () => {})
  await until(() => text.includes('Verify return code'))
  program.stdin.write('R\n')
  const handshakes = (): number => text.match(/<<<.*ServerHello\b/g)?.length ?? 0
  const isRefused = (): boolean => /Alert.*no_renegotiation/.test(text)
  await until(() => isRefused() || handshakes() > 1)
  return { handshakes: handshakes(), isRefused: isRefused() }
}
