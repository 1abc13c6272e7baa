import type { KeyObject } from 'node:crypto'
import { keyPair } from '@sluice/core/testing'
import { signer } from '../../keys/signature.js'
import type { SignatureAlgorithm } from '../../keys/signature-algorithm.js'

/** Encodes bytes or a text as base64url. */
export function encode(value: string | Uint8Array): string {
  return Buffer.from(value as string).toString('base64url')
}

/** Returns a signed token with a given header and payload, valid or not. */
export async function signedToken(
  alg: SignatureAlgorithm,
  key: KeyObject,
  { header, payload }: { header: string; payload: string | Uint8Array },
): Promise<string> {
  const input = `${encode(header)}.${encode(payload)}`
  return `${input}.${encode(await signer(alg, key)(Buffer.from(input)))}`
}

/** A test issuer: its key and the configuration of it. */
export class Issuer {
  readonly alg: SignatureAlgorithm
  readonly kid: string | null
  readonly key: KeyObject
  readonly publicKey: KeyObject

  constructor(alg: 'ES256' | 'RS256' | 'EdDSA' = 'ES256', kid: string | null = null) {
    this.alg = alg
    this.kid = kid
    const pair =
      alg === 'RS256'
        ? keyPair('rsa', { modulusLength: 2048 })
        : alg === 'EdDSA'
          ? keyPair('ed25519')
          : keyPair('ec', { namedCurve: 'P-256' })
    this.key = pair.privateKey
    this.publicKey = pair.publicKey
  }

  /** Returns the text of the public JWK with additional members. */
  jwk(more: object = {}): string {
    const kid = this.kid === null ? {} : { kid: this.kid }
    return JSON.stringify({ ...this.publicKey.export({ format: 'jwk' }), ...kid, ...more })
  }

  pem(): string {
    return this.publicKey.export({ type: 'spki', format: 'pem' }) as string
  }

  /** Returns a token with the given claims and header members. */
  token(claims: object, header: object = {}): Promise<string> {
    const kid = this.kid === null ? {} : { kid: this.kid }
    return signedToken(this.alg, this.key, {
      header: JSON.stringify({ alg: this.alg, ...kid, ...header }),
      payload: JSON.stringify(claims),
    })
  }
}
