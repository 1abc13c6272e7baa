import { createPrivateKey, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'

/** The certificate in a PEM text. @throws Error when it holds none */
export function certificateFrom(pem: string, option: string): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch (cause) {
    throw new Error(`'${option}' holds no certificate in PEM; it begins with -----BEGIN CERTIFICATE-----`, {
      cause,
    })
  }
}

/** The private key in a PEM text. @throws Error when it holds none, or one protected by a pass phrase */
export function privateKeyFrom(pem: string, option: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch (cause) {
    throw new Error(
      `'${option}' holds no private key in PEM without a pass phrase; convert it with openssl pkcs8`,
      {
        cause,
      },
    )
  }
}

/** @throws Error when the certificate is for another key */
export function assertSameKey(key: KeyObject, certificate: X509Certificate, option: string): void {
  if (!createPublicKey(key).equals(certificate.publicKey)) {
    throw new Error(`'${option}': the certificate is for another key; give the pair that belongs together`)
  }
}
