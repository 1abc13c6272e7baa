import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { DocumentPath } from '../document-path.js'
import { checkPemFile } from './file-check.js'
import type { Inspection } from './inspection.js'

/** Where a certificate and its private key are. */
interface KeyPair {
  readonly certFile: string
  readonly keyFile: string
}

/**
 * A certificate and its key must be there, be what they are called, and belong together. Whoever opens a socket with
 * them cannot say what is wrong: the listener only knows that it did not come about.
 */
export function checkKeyPair(inspection: Inspection, pair: KeyPair, path: DocumentPath): void {
  const [certPath, keyPath] = [
    [...path, 'certFile'],
    [...path, 'keyFile'],
  ]
  checkPemFile(inspection, pair.certFile, certPath)
  checkPemFile(inspection, pair.keyFile, keyPath)
  const { readFile, report } = inspection
  if (!report.isSound(certPath) || !report.isSound(keyPath)) return
  const certificate = parsed(() => new X509Certificate(readFile(pair.certFile)))
  const key = parsed(() => createPrivateKey(readFile(pair.keyFile)))
  if (certificate === null) {
    const message = `certFile ${report.quote(pair.certFile, certPath)} does not begin with a certificate`
    report.add({
      path: certPath,
      message,
      remedy: 'name the certificate chain, PEM, with its own certificate first',
      ofMachine: true,
    })
  }
  if (key === null) {
    const message = `keyFile ${report.quote(pair.keyFile, keyPath)} holds no private key that can be read without a passphrase`
    const remedy = 'name a private key, PEM, that is not encrypted'
    report.add({ path: keyPath, message, remedy, ofMachine: true })
  }
  if (certificate === null || key === null || certificate.checkPrivateKey(key)) return
  const message = `the private key in keyFile ${report.quote(pair.keyFile, keyPath)} does not belong to the first certificate in certFile`
  const remedy = 'name the key that the certificate was issued for'
  report.add({ path: keyPath, message, remedy, ofMachine: true })
}

/** The files of a client: the authorities that it trusts, and its own certificate where it has one. */
export function checkTlsFiles(
  inspection: Inspection,
  tls: Partial<KeyPair> & { readonly caFile?: string },
  path: DocumentPath,
): void {
  const { caFile, certFile, keyFile } = tls
  if (caFile !== undefined) checkPemFile(inspection, caFile, [...path, 'caFile'])
  if (certFile !== undefined && keyFile !== undefined) checkKeyPair(inspection, { certFile, keyFile }, path)
  else if (certFile !== undefined) checkPemFile(inspection, certFile, [...path, 'certFile'])
  else if (keyFile !== undefined) checkPemFile(inspection, keyFile, [...path, 'keyFile'])
}

/** Null for what cannot be parsed; the errors of OpenSSL say nothing to people, and files may hold secrets. */
function parsed<T>(parse: () => T): T | null {
  try {
    return parse()
  } catch {
    return null
  }
}
