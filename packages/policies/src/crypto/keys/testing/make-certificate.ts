import { createHash, type KeyObject, sign } from 'node:crypto'
import { keyPair } from '@sluice/core/testing'

/** A key, its certificate, and both as PEM. */
export interface Pair {
  readonly key: KeyObject
  readonly keyPem: string
  readonly certificatePem: string
  readonly der: Buffer
  readonly name: string
}

interface CertificateOptions {
  readonly name: string
  readonly kind?: 'rsa' | 'ec'
  readonly issuer?: Pair
  readonly isAuthority?: boolean
  readonly bits?: number
  readonly from?: Date
  readonly to?: Date
  readonly serial?: number
  /** Key usage bits, the first one first. Empty: no such extension. */
  readonly usage?: number
}

let serials = 1000

/** Creates a key with a certificate, self-signed or signed by an issuer (RFC 5280 section 4.1). */
export function makeCertificate(options: CertificateOptions): Pair {
  const { privateKey, publicKey } =
    options.kind === 'ec'
      ? keyPair('ec', { namedCurve: 'P-256' })
      : keyPair('rsa', { modulusLength: options.bits ?? 2048 })
  const signer = options.issuer?.key ?? privateKey
  const body = sequence(
    tagged(0xa0, integer(2)),
    integer(options.serial ?? ++serials),
    algorithmOf(signer),
    nameOf(options.issuer?.name ?? options.name),
    sequence(
      time(options.from ?? new Date(Date.now() - 3_600_000)),
      time(options.to ?? new Date(Date.now() + 86_400_000)),
    ),
    nameOf(options.name),
    publicKey.export({ type: 'spki', format: 'der' }),
    extensions(publicKey, options.isAuthority === true, options.usage),
  )
  const der = sequence(body, algorithmOf(signer), bits(sign('sha256', body, signer)))
  const lines = der
    .toString('base64')
    .match(/.{1,64}/g)!
    .join('\n')
  const certificatePem = `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
  const keyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return { key: privateKey, keyPem, certificatePem, der, name: options.name }
}

/** Creates the extensions: basic constraints, key identifier and key usage. */
function extensions(key: KeyObject, isAuthority: boolean, usage?: number): Buffer {
  const id = createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest()
  const constraints = sequence(...(isAuthority ? [tagged(0x01, Buffer.from([0xff]))] : []))
  return tagged(
    0xa3,
    sequence(
      sequence(oid('551d13'), tagged(0x01, Buffer.from([0xff])), tagged(0x04, constraints)),
      sequence(oid('551d0e'), tagged(0x04, tagged(0x04, id))),
      ...(usage === undefined ? [] : [sequence(oid('551d0f'), tagged(0x04, bits(Buffer.from([usage]))))]),
    ),
  )
}

/** sha256WithRSAEncryption or ecdsa-with-SHA256. */
function algorithmOf({ asymmetricKeyType }: KeyObject): Buffer {
  if (asymmetricKeyType === 'ec') return sequence(oid('2a8648ce3d040302'))
  return sequence(oid('2a864886f70d01010b'), tagged(0x05, Buffer.alloc(0)))
}

/** O=Sluice tests, CN=name. */
function nameOf(name: string): Buffer {
  const part = (type: string, value: string) =>
    tagged(0x31, sequence(oid(type), tagged(0x0c, Buffer.from(value))))
  return sequence(part('55040a', 'Sluice tests'), part('550403', name))
}

function time(date: Date): Buffer {
  const text = `${date.toISOString().replaceAll(/[-:T]/g, '').slice(0, 14)}Z`
  return tagged(0x18, Buffer.from(text))
}

function integer(value: number): Buffer {
  const hex = value.toString(16)
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
  return tagged(0x02, bytes[0]! > 0x7f ? Buffer.concat([Buffer.from([0]), bytes]) : bytes)
}

function oid(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, 'hex'))
}

function bits(bytes: Buffer): Buffer {
  return tagged(0x03, Buffer.concat([Buffer.from([0]), bytes]))
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts))
}

function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content
  const head =
    length < 0x80
      ? [tag, length]
      : length < 0x100
        ? [tag, 0x81, length]
        : [tag, 0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from(head), content])
}
