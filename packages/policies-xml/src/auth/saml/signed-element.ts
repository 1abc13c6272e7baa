import type { XmlElement } from 'libxml2-wasm'
import { digestHash, isSignedBy, signatureMethods } from '../../content/ws-security/algorithms.js'
import {
  type Canonicalization,
  canonicalBytes,
  canonicalDigest,
  canonicalizationOf,
  EXCLUSIVE_C14N,
} from '../../content/ws-security/canonical.js'
import { attributeOf, base64Bytes, childElements, childrenNamed } from '../../content/ws-security/elements.js'
import { NS } from '../../content/ws-security/names.js'
import {
  MAX_VALUE_LENGTH,
  referenceParts,
  type SignatureShape,
  signatureParts,
} from '../../content/ws-security/signature-parts.js'
import type { IssuerKey } from './idp.js'
import { ENVELOPED } from './names.js'
import { RefusedAssertion } from './refused-assertion.js'

/**
 * Allowed structure. The algorithms are SHA-256 and longer with public keys, so a public key is never used as
 * a shared secret. KeyInfo is ignored.
 */
const SHAPE: SignatureShape = {
  maxReferences: 1,
  code: 'FailedCheck',
  methods: signatureMethods(
    ['256', '384', '512'].flatMap((bits) => [`rsa-sha${bits}`, `rsa-pss-sha${bits}`, `ecdsa-sha${bits}`]),
    false,
  ),
}

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
  const parts = signatureParts(signature, SHAPE)
  const value = base64Bytes(parts.value, MAX_VALUE_LENGTH)
  const { how, hash, expected } = referenceTo(element, parts.references[0]!)
  const signedInfo = canonicalBytes(parts.signedInfo, exclusiveOf(parts.canonicalization))
  const signer = keys.find(({ key }) => isSignedBy(key, parts.method, signedInfo, value))
  if (signer === undefined) throw new RefusedAssertion('signature', 'not signed by a key of the issuer')
  signature.remove()
  if (canonicalDigest(element, how, hash) !== expected)
    throw new RefusedAssertion('signature', 'the digest is wrong')
  return signer.validToMs
}

function referenceTo(element: XmlElement, reference: XmlElement) {
  const id = attributeOf(element, 'ID')
  if (id === null || id === '' || attributeOf(reference, 'URI') !== `#${id}`)
    throw new RefusedAssertion('signature', 'the signature is for another element')
  const { transforms, digestMethod, digest } = referenceParts(reference, 2, SHAPE.code)
  const [enveloped, canonical] = transforms
  if (attributeOf(enveloped!, 'Algorithm') !== ENVELOPED || childElements(enveloped!).length > 0)
    throw new RefusedAssertion('signature', 'the transforms are not allowed')
  const expected = base64Bytes(digest, MAX_VALUE_LENGTH).toString('base64')
  return { how: exclusiveOf(canonical!), hash: digestHash(digestMethod, false), expected }
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
