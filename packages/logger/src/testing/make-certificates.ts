import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

/**
 * Creates a certificate authority and a certificate for the loopback address, `node.pem` and `node.key`.
 * Existing files are kept, because a client trusts the same authority after a restart. Returns the CA file.
 */
export function makeCertificates(dir: string): string {
  const caFile = join(dir, 'ca.pem')
  if (existsSync(caFile)) return caFile
  mkdirSync(dir, { recursive: true })
  const caKey = join(dir, 'ca.key')
  const authority = ['-subj', '/CN=Sluice test authority', '-keyout', caKey, '-out', caFile]
  sign([...authority, '-addext', 'keyUsage=critical,keyCertSign'])
  const node = ['-subj', '/CN=node', '-keyout', join(dir, 'node.key'), '-out', join(dir, 'node.pem')]
  const names = [
    '-addext',
    'subjectAltName=IP:127.0.0.1,DNS:localhost',
    '-addext',
    'basicConstraints=CA:FALSE',
  ]
  sign([...node, ...names, '-CA', caFile, '-CAkey', caKey])
  rmSync(caKey)
  return caFile
}

function sign(options: readonly string[]): void {
  const command = ['req', '-x509', '-days', '3650', ...NEW_KEY, ...options]
  const { status, stderr, error } = spawnSync('openssl', command, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`openssl made no certificate: ${error?.message ?? stderr}`)
}
