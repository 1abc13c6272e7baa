import type { XmlElement } from 'libxml2-wasm'
import type { SignatureMethod } from './algorithms.js'
import { attributeOf, childElements, hasCommentOrInstruction, isElement } from './elements.js'
import { type FaultCode, SecurityFault } from './fault.js'
import { NS } from './names.js'

/** Maximum length of a base64 value. Fits signatures of 16 Kbit keys. */
export const MAX_VALUE_LENGTH = 4096

/** Limits for a signature, and the code for a wrong structure. */
export interface SignatureShape {
  readonly maxReferences: number
  readonly code: FaultCode
  readonly methods: ReadonlyMap<string, SignatureMethod>
}

/** The children of a ds:Signature. */
export interface SignatureParts {
  readonly signedInfo: XmlElement
  readonly value: XmlElement
  readonly keyInfo: XmlElement | null
  readonly canonicalization: XmlElement
  readonly method: SignatureMethod
  readonly references: readonly XmlElement[]
}

/** Reads a ds:Signature. Every child must be at its place. @throws SecurityFault */
export function signatureParts(
  signature: XmlElement,
  { maxReferences, code, methods }: SignatureShape,
): SignatureParts {
  if (hasCommentOrInstruction(signature)) throw new SecurityFault(code, 'a signature contains a comment')
  const [info, value, keyInfo = null, ...rest] = childElements(signature)
  const signedInfo = named(info, 'SignedInfo', code)
  const [canonicalization, method, ...references] = childElements(signedInfo)
  if (rest.length > 0 || references.length === 0 || references.length > maxReferences)
    throw new SecurityFault(code, 'a signature has an unexpected structure')
  const found = methods.get(attributeOf(named(method, 'SignatureMethod', code), 'Algorithm') ?? '')
  if (found === undefined || childElements(method!).length > 0)
    throw new SecurityFault('UnsupportedAlgorithm', 'the signature algorithm is not allowed')
  return {
    signedInfo,
    value: named(value, 'SignatureValue', code),
    keyInfo: keyInfo === null ? null : named(keyInfo, 'KeyInfo', code),
    canonicalization: named(canonicalization, 'CanonicalizationMethod', code),
    method: found,
    references: references.map((reference) => named(reference, 'Reference', code)),
  }
}

/** The children of a ds:Reference. */
export interface ReferenceParts {
  readonly transforms: readonly XmlElement[]
  readonly digestMethod: string | null
  readonly digest: XmlElement
}

/** Reads a ds:Reference with so many transforms. @throws SecurityFault */
export function referenceParts(
  reference: XmlElement,
  transformCount: number,
  code: FaultCode,
): ReferenceParts {
  const [list, method, digest, ...rest] = childElements(reference)
  const transforms = childElements(named(list, 'Transforms', code))
  if (rest.length > 0 || transforms.length !== transformCount)
    throw new SecurityFault('UnsupportedAlgorithm', 'the transforms are not allowed')
  return {
    transforms: transforms.map((transform) => named(transform, 'Transform', code)),
    digestMethod: attributeOf(named(method, 'DigestMethod', code), 'Algorithm'),
    digest: named(digest, 'DigestValue', code),
  }
}

function named(element: XmlElement | undefined, name: string, code: FaultCode): XmlElement {
  if (element === undefined || !isElement(element, NS.ds, name))
    throw new SecurityFault(code, `expected ${name}`)
  return element
}
