import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'

/** Parses a PEM certificate. @throws Error if it is invalid */
export function certificateFrom(pem: string, option: string): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch (cause) {
    throw new Error(`'${option}' is not a PEM certificate: it must begin with -----BEGIN CERTIFICATE-----`, {
      cause,
    })
  }
}

/** Parses a PEM private key. @throws Error if it is invalid or has a pass phrase */
export function privateKeyFrom(pem: string, option: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch (cause) {
    throw new Error(
      `'${option}' is not a PEM private key without a pass phrase: convert it with openssl pkcs8`,
      { cause },
    )
  }
}

/** @throws Error if the certificate belongs to another key */
export function assertSameKey(key: KeyObject, certificate: X509Certificate, option: string): void {
  if (!createPublicKey(key).equals(certificate.publicKey))
    throw new Error(`'${option}': the certificate does not match the key: use a matching pair`)
}
