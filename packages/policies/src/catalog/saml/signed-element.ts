import type { XmlElement } from 'libxml2-wasm'
import { digestHash, isSignedBy, type SignatureMethod, signatureMethods } from '../ws-security/algorithms.js'
import {
  type Canonicalization,
  canonicalBytes,
  canonicalDigest,
  canonicalizationOf,
  EXCLUSIVE_C14N,
} from '../ws-security/canonical.js'
import {
  attributeOf,
  base64Bytes,
  childElements,
  childrenNamed,
  hasStrangers,
  isElement,
} from '../ws-security/elements.js'
import { NS } from '../ws-security/names.js'
import type { IssuerKey } from './idp.js'
import { ENVELOPED } from './names.js'
import { RefusedAssertion } from './refused-assertion.js'

/** SHA-256 and longer, with the keys of certificates: a public key is never taken for a shared secret. */
const METHODS: ReadonlyMap<string, SignatureMethod> = signatureMethods(
  ['256', '384', '512'].flatMap((bits) => [`rsa-sha${bits}`, `rsa-pss-sha${bits}`, `ecdsa-sha${bits}`]),
  false,
)
/** Of a signature: 16 KB of key and more. */
const MAX_VALUE_LENGTH = 4096

/**
 * Verifies the signature that an element has for itself (SAML Core, section 5.4): one reference, by its own ID, through the
 * enveloped-signature transform and one exclusive canonicalization. The signature is taken out of the document then, so that
 * what is left is what was signed, to the last byte, and nothing else is read. @returns when the certificate of the signer
 * ends, ms since 1970; null: the element has no signature.
 * @throws RefusedAssertion, or SecurityFault for what cannot be read.
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
  /** Base64. */
  readonly digest: string
}

/** Every child in its place, and no other. What KeyInfo says is not looked at. */
function partsOf(signature: XmlElement, element: XmlElement): SignatureParts {
  if (hasStrangers(signature)) throw new RefusedAssertion('signature', 'a comment in the signature')
  const [signedInfo, value, keyInfo, ...others] = childElements(signature)
  const info = named(signedInfo, 'SignedInfo')
  if (keyInfo !== undefined) named(keyInfo, 'KeyInfo')
  const [canonicalization, method, reference, ...references] = childElements(info)
  if (others.length > 0 || references.length > 0)
    throw new RefusedAssertion('signature', 'a signature of another shape')
  const found = METHODS.get(attributeOf(named(method, 'SignatureMethod'), 'Algorithm') ?? '')
  if (found === undefined || childElements(method!).length > 0)
    throw new RefusedAssertion('signature', 'a way to sign that is not allowed')
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
    throw new RefusedAssertion('signature', 'transforms that are not allowed')
  const how = exclusiveOf(named(canonical, 'Transform'))
  return {
    how,
    hash: digestHash(attributeOf(named(method, 'DigestMethod'), 'Algorithm'), false),
    digest: base64Bytes(named(value, 'DigestValue'), MAX_VALUE_LENGTH).toString('base64'),
  }
}

/** Inclusive forms take in what stands around an element, which is not ours. */
function exclusiveOf(method: XmlElement): Canonicalization {
  const how = canonicalizationOf(method)
  if (how.mode !== EXCLUSIVE_C14N.mode)
    throw new RefusedAssertion('signature', 'a canonical form that is not exclusive')
  return how
}

function named(element: XmlElement | undefined, name: string): XmlElement {
  if (element === undefined || !isElement(element, NS.ds, name))
    throw new RefusedAssertion('signature', `no ${name} where it belongs`)
  return element
}
