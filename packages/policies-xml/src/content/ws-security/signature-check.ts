import type { KeyObject } from 'node:crypto'
import type { XmlElement } from 'libxml2-wasm'
import { digestHash, isSignedBy, type SignatureMethod } from './algorithms.js'
import { canonicalBytes, canonicalDigest, canonicalizationOf } from './canonical.js'
import {
  attributeOf,
  base64Bytes,
  childElements,
  childrenNamed,
  idOf,
  localReference,
  requiredChild,
} from './elements.js'
import type { Envelope } from './envelope.js'
import { SecurityFault } from './fault.js'
import type { Identity } from './identity.js'
import { NS } from './names.js'
import { MAX_VALUE_LENGTH, referenceParts, type SignatureParts, signatureParts } from './signature-parts.js'
import { tokenReference } from './token-reference.js'
import type { Signer, Trust } from './trust.js'

/** A message part that must be signed. */
export type SignedPart = 'body' | 'timestamp' | 'username-token'

/** Rules for accepted signatures. */
export interface SignatureRules {
  readonly methods: ReadonlyMap<string, SignatureMethod>
  readonly allowsSha1: boolean
  readonly trust: Trust
  readonly secret: { readonly key: KeyObject; readonly identity: Identity } | null
  readonly parts: readonly SignedPart[]
  readonly maxSignatures: number
}

/** Signer of the required parts. */
export interface SignedBy {
  readonly identity: Identity
  /**
   * Unique values of the sufficient signatures. No two messages share one, and only the signer can create
   * another.
   */
  readonly marks: readonly string[]
}

interface Verified {
  readonly identity: Identity
  readonly mark: string
  readonly covered: readonly XmlElement[]
}

const MAX_REFERENCES = 16

/**
 * Verifies every signature in the Security header. One of them must cover all required parts.
 * @throws SecurityFault
 */
export function checkSignatures(
  envelope: Envelope,
  security: XmlElement,
  rules: SignatureRules,
  nowMs: number,
): SignedBy {
  const signatures = childrenNamed(security, NS.ds, 'Signature')
  if (signatures.length === 0) throw new SecurityFault('InvalidSecurity', 'not signed')
  if (signatures.length > rules.maxSignatures)
    throw new SecurityFault('InvalidSecurity', 'too many signatures')
  const candidates = referable(envelope, security)
  const shape = { maxReferences: MAX_REFERENCES, code: 'InvalidSecurity', methods: rules.methods } as const
  const results = signatures.map((signature) =>
    checkSignature(signatureParts(signature, shape), { candidates, security, rules, nowMs }),
  )
  const wanted = rules.parts.map((part) => partElement(part, envelope, security))
  const complete = results.filter(({ covered }) =>
    wanted.every((part) => covered.some((one) => one.isSameNode(part))),
  )
  const [first] = complete
  if (first === undefined) throw new SecurityFault('FailedCheck', 'a part is not signed')
  return { identity: first.identity, marks: complete.map(({ mark }) => mark) }
}

interface SignatureContext {
  readonly candidates: ReadonlyMap<string, XmlElement>
  readonly security: XmlElement
  readonly rules: SignatureRules
  readonly nowMs: number
}

/** Verifies one signature. Checks the key first, so that no digest is computed for an unknown signer. */
function checkSignature(
  signature: SignatureParts,
  { candidates, security, rules, nowMs }: SignatureContext,
): Verified {
  const { method } = signature
  const { key, identity } = keyFor(signature.keyInfo, method, { security, rules, nowMs })
  const value = base64Bytes(signature.value, MAX_VALUE_LENGTH, 'FailedCheck')
  const signedInfo = canonicalBytes(signature.signedInfo, canonicalizationOf(signature.canonicalization))
  if (!isSignedBy(key, method, signedInfo, value))
    throw new SecurityFault('FailedCheck', 'not signed by this key')
  const covered = signature.references.map((reference) =>
    checkReference(reference, candidates, rules.allowsSha1),
  )
  return { identity, mark: markOf(method, value), covered }
}

/**
 * Returns the unique value of a signature. For ECDSA (r, s) that is r, because anyone can derive the equally
 * valid (r, n - s).
 */
function markOf({ kind }: SignatureMethod, value: Buffer): string {
  return (kind === 'ec' ? value.subarray(0, value.length / 2) : value).toString('base64')
}

function keyFor(
  keyInfo: XmlElement | null,
  { kind }: SignatureMethod,
  { security, rules, nowMs }: Pick<SignatureContext, 'security' | 'rules' | 'nowMs'>,
): { readonly key: KeyObject; readonly identity: Identity } {
  if (kind === 'secret') {
    if (rules.secret === null) throw new SecurityFault('UnsupportedAlgorithm', 'no shared secret')
    return rules.secret
  }
  const signer = signerFor(keyInfo, security, rules.trust, nowMs)
  if (nowMs < signer.validFromMs || nowMs > signer.validToMs)
    throw new SecurityFault('InvalidSecurityToken', 'the certificate is not currently valid')
  return signer
}

function signerFor(keyInfo: XmlElement | null, security: XmlElement, trust: Trust, nowMs: number): Signer {
  if (keyInfo === null) {
    if (trust.only === null)
      throw new SecurityFault('SecurityTokenUnavailable', 'the signature does not identify its key')
    return trust.only
  }
  const reference = tokenReference(keyInfo, security)
  if (reference.kind === 'name') {
    const signer = trust.named(reference.isNamed)
    if (signer === null) throw new SecurityFault('SecurityTokenUnavailable', 'unknown certificate')
    return signer
  }
  const signer = trust.signerFor(reference.base64, nowMs)
  if (signer === null) throw new SecurityFault('FailedAuthentication', 'the certificate is not trusted')
  return signer
}

/** Returns the elements that may be signed: the Body, Header blocks, and children of the Security header. */
function referable({ header, body }: Envelope, security: XmlElement): ReadonlyMap<string, XmlElement> {
  const elements = [body, ...(header === null ? [] : childElements(header)), ...childElements(security)]
  const byId = new Map<string, XmlElement>()
  for (const element of elements) {
    const id = idOf(element)
    if (id === null) continue
    if (byId.has(id)) throw new SecurityFault('InvalidSecurity', 'duplicate id')
    byId.set(id, element)
  }
  return byId
}

/** Returns the element of a ds:Reference after checking its digest. */
function checkReference(
  reference: XmlElement,
  candidates: ReadonlyMap<string, XmlElement>,
  allowsSha1: boolean,
): XmlElement {
  const id = localReference(attributeOf(reference, 'URI'), 'InvalidSecurity')
  const target = candidates.get(id)
  if (target === undefined)
    throw new SecurityFault('InvalidSecurity', 'a reference does not point to an element that may be signed')
  const { transforms, digestMethod, digest } = referenceParts(reference, 1, 'InvalidSecurity')
  const how = canonicalizationOf(transforms[0]!)
  const hash = digestHash(digestMethod, allowsSha1)
  const expected = base64Bytes(digest, MAX_VALUE_LENGTH, 'FailedCheck').toString('base64')
  if (canonicalDigest(target, how, hash) !== expected)
    throw new SecurityFault('FailedCheck', 'a digest is wrong')
  return target
}

function partElement(part: SignedPart, { body }: Envelope, security: XmlElement): XmlElement {
  if (part === 'body') return body
  if (part === 'timestamp') return requiredChild(security, NS.wsu, 'Timestamp')
  return requiredChild(security, NS.wsse, 'UsernameToken')
}
