import { createSecretKey } from 'node:crypto'
import { parseDuration } from '@sluice/core'
import { type KeyKind, kindOf, SIGNATURE_METHODS, signatureMethods } from './algorithms.js'
import type { CheckConfig } from './check-schema.js'
import { DEFAULT_SKEW, DEFAULT_TTL } from './check-schema.js'
import { dataCiphers } from './ciphers.js'
import { type DecryptionRules, decryptionKey } from './decryption.js'
import type { Identity } from './identity.js'
import { NS } from './names.js'
import { assertSameKey, certificateFrom, privateKeyFrom } from './pem.js'
import type { SignatureRules } from './signature-check.js'
import type { TimestampRules } from './timestamp.js'
import { Trust } from './trust.js'
import type { UsernameRules } from './username-token.js'

/** Elements that can be removed after the check. */
export type Strippable = 'header' | 'username-token' | 'signature' | 'timestamp' | 'encrypted-key' | 'token'

/** Namespaces and names of the removable elements. */
export const ELEMENTS: Readonly<Record<Exclude<Strippable, 'header'>, readonly [string, string]>> = {
  'username-token': [NS.wsse, 'UsernameToken'],
  signature: [NS.ds, 'Signature'],
  timestamp: [NS.wsu, 'Timestamp'],
  'encrypted-key': [NS.xenc, 'EncryptedKey'],
  token: [NS.wsse, 'BinarySecurityToken'],
}

/** Compiled rules for checking requests or responses. */
export interface CheckRules {
  readonly actor: string
  readonly timestamp: TimestampRules
  readonly usernameToken: UsernameRules | null
  readonly signature: SignatureRules | null
  /** True if each signature is accepted only once. */
  readonly isSignatureOnce: boolean
  readonly decryption: DecryptionRules | null
  readonly strip: ReadonlySet<Strippable>
  readonly allowsUnsecuredFaults: boolean
}

/** Compiles the `check` configuration. @throws Error for problems that the schema cannot find */
export function checkRules(config: CheckConfig): CheckRules {
  const { timestamp, usernameToken, signature, decryption } = config
  if (!timestamp && !usernameToken && !signature && !decryption)
    throw new Error("'check' is empty: set timestamp, usernameToken, signature or decryption, or remove it")
  const isOnce = signature?.once === true
  if (isOnce && !(signature.parts ?? DEFAULT_PARTS).includes('timestamp'))
    throw new Error(
      "'signature.once' needs 'timestamp' in 'signature.parts', which limits how long signatures are remembered",
    )
  return {
    actor: config.actor ?? '',
    timestamp: {
      isRequired: timestamp !== undefined,
      ttlMs: parseDuration(timestamp?.ttl ?? DEFAULT_TTL),
      skewMs: parseDuration(timestamp?.clockSkew ?? DEFAULT_SKEW),
    },
    usernameToken: usernameToken === undefined ? null : usernameRules(usernameToken),
    signature: signature === undefined ? null : signatureRules(signature, config),
    isSignatureOnce: isOnce,
    decryption: decryption === undefined ? null : decryptionRules(decryption, config),
    strip: new Set(config.strip ?? ['header']),
    allowsUnsecuredFaults: config.unsecuredFaults === true,
  }
}

const DEFAULT_PARTS = ['body', 'timestamp'] as const

function identityOf(id: string, groups: readonly string[] = []): Identity {
  return { id, name: id, groups }
}

function usernameRules({
  users,
  types = ['digest'],
}: NonNullable<CheckConfig['usernameToken']>): UsernameRules {
  const byName: Map<string, { password: string; identity: Identity }> = new Map()
  for (const { name, password, groups } of users) {
    if (byName.has(name)) throw new Error(`duplicate user '${name}' under 'usernameToken.users': remove one`)
    byName.set(name, { password, identity: identityOf(name, groups) })
  }
  return { users: byName, types: new Set(types) }
}

function signatureRules(
  config: NonNullable<CheckConfig['signature']>,
  { allowWeak = [] }: CheckConfig,
): SignatureRules {
  const { certificates = [], authorities = [], secret, algorithms } = config
  if (certificates.length === 0 && authorities.length === 0 && secret === undefined)
    throw new Error("'signature' trusts no signer: set certificates, authorities or a secret")
  const pinned = certificates.map(({ id, certificate, groups }, i) => {
    const option = `signature.certificates.${i}.certificate`
    return { certificate: certificateFrom(certificate, option), identity: identityOf(id, groups) }
  })
  const anchors = authorities.map((authority, i) => {
    const option = `signature.authorities.${i}`
    const certificate = certificateFrom(authority, option)
    if (!certificate.ca) throw new Error(`'${option}' is not a CA certificate: put it under 'certificates'`)
    return certificate
  })
  const kinds = new Set<KeyKind | null>(pinned.map(({ certificate }) => kindOf(certificate.publicKey)))
  if (kinds.has(null)) throw new Error("'signature.certificates' has a key that is neither RSA nor EC")
  if (anchors.length > 0) kinds.add('rsa').add('ec')
  if (secret !== undefined) kinds.add('secret')
  const allowed = signatureMethods(algorithms ?? SIGNATURE_METHODS, allowWeak.includes('sha1'))
  return {
    methods: new Map([...allowed].filter(([, { kind }]) => kinds.has(kind))),
    allowsSha1: allowWeak.includes('sha1'),
    trust: new Trust(pinned, anchors),
    secret:
      secret === undefined
        ? null
        : { key: createSecretKey(secret.value, 'utf8'), identity: identityOf(secret.id, secret.groups) },
    parts: config.parts ?? DEFAULT_PARTS,
    maxSignatures: config.maxSignatures ?? 1,
  }
}

function decryptionRules(
  { keys, needsBody = true }: NonNullable<CheckConfig['decryption']>,
  { allowWeak = [] }: CheckConfig,
): DecryptionRules {
  return {
    keys: keys.map(({ key, certificate }, i) => {
      const option = `decryption.keys.${i}`
      const privateKey = privateKeyFrom(key, `${option}.key`)
      if (privateKey.asymmetricKeyType !== 'rsa') throw new Error(`'${option}.key' is not an RSA key`)
      if (certificate === undefined) {
        if (keys.length > 1)
          throw new Error(`'${option}' needs 'certificate', so that messages can refer to the key`)
        return decryptionKey(privateKey, null)
      }
      const named = certificateFrom(certificate, `${option}.certificate`)
      assertSameKey(privateKey, named, option)
      return decryptionKey(privateKey, named)
    }),
    ciphers: dataCiphers(allowWeak.includes('cbc')),
    allowsPkcs1: allowWeak.includes('rsa-1_5'),
    needsBody,
  }
}
