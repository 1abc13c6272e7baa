import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { DocumentPath } from '../diagnostic/document-path.js'
import { checkPemFile } from './file-check.js'
import type { Inspection } from './inspection.js'

/** Files of a certificate and its private key. */
interface KeyPair {
  readonly certFile: string
  readonly keyFile: string
}

/**
 * Checks that a certificate and its key exist, have the right type and match. A server that fails to use them
 * cannot report the reason.
 */
export function checkKeyPair(inspection: Inspection, pair: KeyPair, path: DocumentPath): void {
  const [certPath, keyPath] = [
    [...path, 'certFile'],
    [...path, 'keyFile'],
  ]
  checkPemFile(inspection, pair.certFile, certPath)
  checkPemFile(inspection, pair.keyFile, keyPath)
  const { readFile, report } = inspection
  if (!report.isValid(certPath) || !report.isValid(keyPath)) return
  const certificate = parsed(() => new X509Certificate(readFile(pair.certFile)))
  const key = parsed(() => createPrivateKey(readFile(pair.keyFile)))
  if (certificate === null) {
    const message = `certFile ${report.quote(pair.certFile, certPath)} does not start with a certificate`
    report.add({
      path: certPath,
      message,
      remedy: 'use a PEM file with the leaf certificate first',
      ofMachine: true,
    })
  }
  if (key === null) {
    const message = `keyFile ${report.quote(pair.keyFile, keyPath)} contains no unencrypted private key`
    const remedy = 'use a PEM private key without a passphrase'
    report.add({ path: keyPath, message, remedy, ofMachine: true })
  }
  if (certificate === null || key === null || certificate.checkPrivateKey(key)) return
  const message = `the private key in keyFile ${report.quote(pair.keyFile, keyPath)} does not match the first certificate in certFile`
  const remedy = 'use the private key of that certificate'
  report.add({ path: keyPath, message, remedy, ofMachine: true })
}

/** Checks the TLS files of a client: its trusted CAs, and its own certificate if it has one. */
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

/**
 * Returns the parsed value, or null. Errors of OpenSSL are not helpful, and the files may contain secrets.
 */
function parsed<T>(parse: () => T): T | null {
  try {
    return parse()
  } catch {
    return null
  }
}
