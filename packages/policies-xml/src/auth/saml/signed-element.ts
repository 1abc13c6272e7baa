import type { XmlElement } from 'libxml2-wasm'
import {
  digestHash,
  isSignedBy,
  type SignatureMethod,
  signatureMethods,
} from '../../content/ws-security/algorithms.js'
import {
  type Canonicalization,
  canonicalBytes,
  canonicalDigest,
  canonicalizationOf,
  EXCLUSIVE_C14N,
} from '../../content/ws-security/canonical.js'
import {
  attributeOf,
  base64Bytes,
  childElements,
  childrenNamed,
  hasCommentOrInstruction,
  isElement,
} from '../../content/ws-security/elements.js'
import { NS } from '../../content/ws-security/names.js'
import type { IssuerKey } from './idp.js'
import { ENVELOPED } from './names.js'
import { RefusedAssertion } from './refused-assertion.js'

/** Allowed algorithms: SHA-256 and longer with public keys. A public key is never used as a shared secret. */
const METHODS: ReadonlyMap<string, SignatureMethod> = signatureMethods(
  ['256', '384', '512'].flatMap((bits) => [`rsa-sha${bits}`, `rsa-pss-sha${bits}`, `ecdsa-sha${bits}`]),
  false,
)
/** Maximum length of a base64 value. Fits signatures of 16 Kbit keys. */
const MAX_VALUE_LENGTH = 4096

/**
 * Verifies the signature of an element (SAML Core, section 5.4): one reference to its own ID, with the
 * enveloped-signature transform and exclusive canonicalization. Then removes the signature, so that exactly
 * the signed content remains, and nothing else is read.
 * @returns the expiry of the signing certificate in milliseconds since 1970, or null if the element is not
 * signed.
 * @throws RefusedAssertion, or SecurityFault for unreadable input.
 */
export function verifyOwnSignature(element: XmlElement, keys: readonly IssuerKey[]): number | null {
  const [signature, ...more] = childrenNamed(element, NS.ds, 'Signature')
  if (signature === undefined) return null
  if (more.length > 0) throw new RefusedAssertion('signature', 'more than one signature')
  const parts = partsOf(signature, element)
  const signedInfo = canonicalBytes(parts.signedInfo, exclusiveOf(parts.canonicalization))
  const signer = keys.find(({ key }) => isSignedBy(key, parts.method, signedInfo, parts.value))
  if (signer === undefined) throw new RefusedAssertion('signature', 'not signed by a key of the issuer')
  signature.remove()
  if (canonicalDigest(element, parts.how, parts.hash) !== parts.digest)
    throw new RefusedAssertion('signature', 'the digest is wrong')
  return signer.validToMs
}

interface SignatureParts {
  readonly signedInfo: XmlElement
  readonly canonicalization: XmlElement
  readonly method: SignatureMethod
  readonly value: Buffer
  readonly how: Canonicalization
  readonly hash: string
  /** Digest in base64. */
  readonly digest: string
}

/**
 * Reads the parts of a signature. Every child must be at its place, and no others are allowed. KeyInfo is
 * ignored.
 */
function partsOf(signature: XmlElement, element: XmlElement): SignatureParts {
  if (hasCommentOrInstruction(signature))
    throw new RefusedAssertion('signature', 'the signature contains a comment')
  const [signedInfo, value, keyInfo, ...others] = childElements(signature)
  const info = named(signedInfo, 'SignedInfo')
  if (keyInfo !== undefined) named(keyInfo, 'KeyInfo')
  const [canonicalization, method, reference, ...references] = childElements(info)
  if (others.length > 0 || references.length > 0)
    throw new RefusedAssertion('signature', 'the signature has an unexpected structure')
  const found = METHODS.get(attributeOf(named(method, 'SignatureMethod'), 'Algorithm') ?? '')
  if (found === undefined || childElements(method!).length > 0)
    throw new RefusedAssertion('signature', 'the signature algorithm is not allowed')
  return {
    ...{ signedInfo: info, canonicalization: named(canonicalization, 'CanonicalizationMethod') },
    ...{ method: found, value: base64Bytes(named(value, 'SignatureValue'), MAX_VALUE_LENGTH) },
    ...referenceParts(named(reference, 'Reference'), element),
  }
}

function referenceParts(
  reference: XmlElement,
  element: XmlElement,
): Pick<SignatureParts, 'how' | 'hash' | 'digest'> {
  const id = attributeOf(element, 'ID')
  if (id === null || id === '' || attributeOf(reference, 'URI') !== `#${id}`)
    throw new RefusedAssertion('signature', 'the signature is for another element')
  const [transforms, method, value, ...others] = childElements(reference)
  const [enveloped, canonical, ...more] = childElements(named(transforms, 'Transforms'))
  const isEnveloped =
    attributeOf(named(enveloped, 'Transform'), 'Algorithm') === ENVELOPED &&
    childElements(enveloped!).length === 0
  if (!isEnveloped || more.length > 0 || others.length > 0)
    throw new RefusedAssertion('signature', 'the transforms are not allowed')
  const how = exclusiveOf(named(canonical, 'Transform'))
  return {
    how,
    hash: digestHash(attributeOf(named(method, 'DigestMethod'), 'Algorithm'), false),
    digest: base64Bytes(named(value, 'DigestValue'), MAX_VALUE_LENGTH).toString('base64'),
  }
}

/**
 * Returns the canonicalization. Inclusive forms are refused, because they depend on the context of the
 * element.
 */
function exclusiveOf(method: XmlElement): Canonicalization {
  const how = canonicalizationOf(method)
  if (how.mode !== EXCLUSIVE_C14N.mode)
    throw new RefusedAssertion('signature', 'the canonicalization is not exclusive')
  return how
}

function named(element: XmlElement | undefined, name: string): XmlElement {
  if (element === undefined || !isElement(element, NS.ds, name))
    throw new RefusedAssertion('signature', `expected ${name}`)
  return element
}
