import type { KeyObject } from 'node:crypto'
import type { XmlElement } from 'libxml2-wasm'
import { digestHash, isSignedBy, type SignatureMethod } from './algorithms.js'
import { canonicalBytes, canonicalDigest, canonicalizationOf } from './canonical.js'
import {
  attributeOf,
  base64Bytes,
  childElements,
  childrenNamed,
  hasStrangers,
  idOf,
  isElement,
  localReference,
  requiredChild,
} from './elements.js'
import type { Envelope } from './envelope.js'
import { SecurityFault } from './fault.js'
import type { Identity } from './identity.js'
import { NS } from './names.js'
import { tokenReference } from './token-reference.js'
import type { Signer, Trust } from './trust.js'

/** A part of a message that has to be signed. */
export type SignedPart = 'body' | 'timestamp' | 'username-token'

/** Which signatures count. */
export interface SignatureRules {
  readonly methods: ReadonlyMap<string, SignatureMethod>
  readonly allowsSha1: boolean
  readonly trust: Trust
  readonly secret: { readonly key: KeyObject; readonly identity: Identity } | null
  readonly parts: readonly SignedPart[]
  readonly maxSignatures: number
}

/** Who has signed what has to be signed. */
export interface SignedBy {
  readonly identity: Identity
  /** Of each signature that would have done: no two messages share one, nor can anybody but the signer make another. */
  readonly marks: readonly string[]
}

interface Verified {
  readonly identity: Identity
  readonly mark: string
  readonly covered: readonly XmlElement[]
}

const MAX_REFERENCES = 16
/** Of a signature: 16 KB of key and more. */
const MAX_VALUE_LENGTH = 4096

/**
 * Verifies every signature in the Security header; one of them has to cover all parts that the rules name.
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
  const results = signatures.map((signature) =>
    checkSignature(new SignatureElement(signature), { candidates, security, rules, nowMs }),
  )
  const wanted = rules.parts.map((part) => partElement(part, envelope, security))
  const complete = results.filter(({ covered }) =>
    wanted.every((part) => covered.some((one) => one.isSameNode(part))),
  )
  const [first] = complete
  if (first === undefined) throw new SecurityFault('FailedCheck', 'a part is not signed')
  return { identity: first.identity, marks: complete.map(({ mark }) => mark) }
}

interface Surroundings {
  readonly candidates: ReadonlyMap<string, XmlElement>
  readonly security: XmlElement
  readonly rules: SignatureRules
  readonly nowMs: number
}

/** The key first: what nobody we know has signed is not worth a digest. */
function checkSignature(
  signature: SignatureElement,
  { candidates, security, rules, nowMs }: Surroundings,
): Verified {
  const method = rules.methods.get(attributeOf(signature.method, 'Algorithm') ?? '')
  if (method === undefined || childElements(signature.method).length > 0) {
    throw new SecurityFault('UnsupportedAlgorithm', 'a way to sign that is not allowed')
  }
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

/** Of an ECDSA signature (r, s) the r: anybody can make (r, n - s) of it, which is valid as well. */
function markOf({ kind }: SignatureMethod, value: Buffer): string {
  return (kind === 'ec' ? value.subarray(0, value.length / 2) : value).toString('base64')
}

/** The children of ds:Signature, each in its place. */
class SignatureElement {
  readonly signedInfo: XmlElement
  readonly value: XmlElement
  readonly keyInfo: XmlElement | null
  readonly canonicalization: XmlElement
  readonly method: XmlElement
  readonly references: readonly XmlElement[]

  constructor(signature: XmlElement) {
    if (hasStrangers(signature)) throw new SecurityFault('InvalidSecurity', 'a comment in a signature')
    const [signedInfo, value, keyInfo = null, ...rest] = childElements(signature)
    this.signedInfo = named(signedInfo, 'SignedInfo')
    this.value = named(value, 'SignatureValue')
    this.keyInfo = keyInfo === null ? null : named(keyInfo, 'KeyInfo')
    const [canonicalization, method, ...references] = childElements(this.signedInfo)
    this.canonicalization = named(canonicalization, 'CanonicalizationMethod')
    this.method = named(method, 'SignatureMethod')
    this.references = references.map((reference) => named(reference, 'Reference'))
    if (rest.length > 0 || references.length === 0 || references.length > MAX_REFERENCES) {
      throw new SecurityFault('InvalidSecurity', 'a signature of another shape')
    }
  }
}

function named(element: XmlElement | undefined, name: string): XmlElement {
  if (element === undefined || !isElement(element, NS.ds, name)) {
    throw new SecurityFault('InvalidSecurity', `no ${name} where it belongs`)
  }
  return element
}

function keyFor(
  keyInfo: XmlElement | null,
  { kind }: SignatureMethod,
  { security, rules, nowMs }: Pick<Surroundings, 'security' | 'rules' | 'nowMs'>,
): { readonly key: KeyObject; readonly identity: Identity } {
  if (kind === 'secret') {
    if (rules.secret === null) throw new SecurityFault('UnsupportedAlgorithm', 'no shared secret')
    return rules.secret
  }
  const signer = signerFor(keyInfo, security, rules.trust, nowMs)
  if (nowMs < signer.validFromMs || nowMs > signer.validToMs) {
    throw new SecurityFault('InvalidSecurityToken', 'the certificate is not valid now')
  }
  return signer
}

function signerFor(keyInfo: XmlElement | null, security: XmlElement, trust: Trust, nowMs: number): Signer {
  if (keyInfo === null) {
    if (trust.only === null) throw new SecurityFault('SecurityTokenUnavailable', 'nothing says who signed')
    return trust.only
  }
  const reference = tokenReference(keyInfo, security)
  if (reference.kind === 'name') {
    const signer = trust.named(reference.isNamed)
    if (signer === null) throw new SecurityFault('SecurityTokenUnavailable', 'no such certificate')
    return signer
  }
  const signer = trust.signerFor(reference.base64, nowMs)
  if (signer === null) throw new SecurityFault('FailedAuthentication', 'the certificate is not trusted')
  return signer
}

/** What a reference may name: the Body, a block of the Header, or a child of the Security header; nothing below them. */
function referable({ header, body }: Envelope, security: XmlElement): ReadonlyMap<string, XmlElement> {
  const elements = [body, ...(header === null ? [] : childElements(header)), ...childElements(security)]
  const byId = new Map<string, XmlElement>()
  for (const element of elements) {
    const id = idOf(element)
    if (id === null) continue
    if (byId.has(id)) throw new SecurityFault('InvalidSecurity', 'an id stands twice')
    byId.set(id, element)
  }
  return byId
}

/** The element that a ds:Reference names, when its digest is right. */
function checkReference(
  reference: XmlElement,
  candidates: ReadonlyMap<string, XmlElement>,
  allowsSha1: boolean,
): XmlElement {
  const id = localReference(attributeOf(reference, 'URI'), 'InvalidSecurity')
  const target = candidates.get(id)
  if (target === undefined)
    throw new SecurityFault('InvalidSecurity', 'a reference to nothing that may be signed')
  const [transforms, method, value, ...rest] = childElements(reference)
  const steps = childElements(named(transforms, 'Transforms'))
  if (rest.length > 0 || steps.length !== 1)
    throw new SecurityFault('UnsupportedAlgorithm', 'not one transform')
  const how = canonicalizationOf(named(steps[0], 'Transform'))
  const hash = digestHash(attributeOf(named(method, 'DigestMethod'), 'Algorithm'), allowsSha1)
  const expected = base64Bytes(named(value, 'DigestValue'), MAX_VALUE_LENGTH, 'FailedCheck').toString(
    'base64',
  )
  if (canonicalDigest(target, how, hash) !== expected)
    throw new SecurityFault('FailedCheck', 'a digest is wrong')
  return target
}

function partElement(part: SignedPart, { body }: Envelope, security: XmlElement): XmlElement {
  if (part === 'body') return body
  if (part === 'timestamp') return requiredChild(security, NS.wsu, 'Timestamp')
  return requiredChild(security, NS.wsse, 'UsernameToken')
}
