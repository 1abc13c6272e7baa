import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { reasonOf } from '../lib/system-error.js'

/** TLS options that name files. Null and absent are equivalent. */
export interface TlsFileNames {
  readonly caFile?: string | null
  readonly certFile?: string | null
  readonly keyFile?: string | null
}

/** Contents of the files of `TlsFileNames`, for the options of `tls.connect`. */
export interface TlsFileContents {
  readonly ca?: Buffer
  readonly cert?: Buffer
  readonly key?: Buffer
}

/**
 * Reads the files of TLS options. OpenSSL's own errors name neither a file nor an option.
 * @param where Prefix of the keys in the document, such as `admin.tls`
 * @throws Error that names the key and the file, if a file cannot be read or used
 */
export function readTlsFiles({ caFile, certFile, keyFile }: TlsFileNames, where = 'tls'): TlsFileContents {
  const ca = isNamed(caFile) ? readCertificates(caFile, `${where}.caFile`) : null
  const cert = isNamed(certFile) ? readCertificates(certFile, `${where}.certFile`) : null
  const key = isNamed(keyFile) ? readPrivateKey(keyFile, `${where}.keyFile`) : null
  if (cert !== null && key !== null && !new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
    throw new Error(
      `${where}.keyFile '${keyFile}' is not the key of the first certificate in ${where}.certFile '${certFile}'`,
    )
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
}

/** Reads a file of certificates. @throws Error that names the key and the file */
export function readCertificates(file: string, key: string): Buffer {
  return read(file, key, (bytes) => new X509Certificate(bytes), 'contains no certificate in PEM format')
}

function readPrivateKey(file: string, key: string): Buffer {
  return read(file, key, createPrivateKey, 'contains no unencrypted private key in PEM format')
}

function read(file: string, key: string, check: (bytes: Buffer) => unknown, problem: string): Buffer {
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch (cause) {
    throw new Error(`${key} '${file}' cannot be read: ${reasonOf(cause)}`, { cause })
  }
  try {
    check(bytes)
  } catch (cause) {
    throw new Error(`${key} '${file}' ${problem}`, { cause })
  }
  return bytes
}

function isNamed(file: string | null | undefined): file is string {
  return file !== null && file !== undefined && file !== ''
}
