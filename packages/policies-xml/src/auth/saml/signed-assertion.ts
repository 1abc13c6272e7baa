import type { XmlElement } from 'libxml2-wasm'
import { attributeOf, childrenNamed, isElement, plainText } from '../../content/ws-security/elements.js'
import { readEnvelope } from '../../content/ws-security/envelope.js'
import { NS } from '../../content/ws-security/names.js'
import type { IssuerKey } from './idp.js'
import { SAML } from './names.js'
import { RefusedAssertion } from './refused-assertion.js'
import { verifyOwnSignature } from './signed-element.js'

/**
 * Location of the assertion: the root or inside a SAML response, or the Security header of a SOAP message.
 */
export type AssertionPlace = 'root' | 'soap-header'

/** Requirements for an assertion. */
export interface AssertionRules {
  readonly issuer: string
  readonly keys: readonly IssuerKey[]
  readonly audience: string
  /** Required recipient, or null if not checked. */
  readonly recipient: string | null
  readonly skewMs: number
}

/** An assertion with a valid signature. */
export interface SignedAssertion {
  readonly element: XmlElement
  /** Earliest expiry of the certificates behind its signatures, in milliseconds since 1970. */
  readonly certifiedUntilMs: number
  /** Request that its response claims to answer, or null. */
  readonly responseTo: string | null
}

/**
 * Returns the assertion, which must be signed itself or as a part of a signed response. Finds it by its
 * location, never by a search.
 * @param rules rules with the currently valid keys.
 * @throws RefusedAssertion, or SecurityFault for unreadable input.
 */
export function signedAssertion(
  root: XmlElement,
  place: AssertionPlace,
  rules: AssertionRules,
): SignedAssertion {
  const { assertion, response } = place === 'soap-header' ? inSecurityHeader(root) : atRoot(root)
  const ends = [response, assertion]
    .map((element) => (element === null ? null : verifyOwnSignature(element, rules.keys)))
    .filter((endMs) => endMs !== null)
  if (ends.length === 0) throw new RefusedAssertion('unsigned')
  if (response !== null) checkResponse(response, rules)
  return {
    element: assertion,
    certifiedUntilMs: Math.min(...ends),
    responseTo: response === null ? null : attributeOf(response, 'InResponseTo'),
  }
}

interface Found {
  readonly assertion: XmlElement
  readonly response: XmlElement | null
}

function atRoot(root: XmlElement): Found {
  if (isElement(root, SAML.assertion, 'Assertion')) return { assertion: root, response: null }
  if (!isElement(root, SAML.protocol, 'Response'))
    throw new RefusedAssertion('malformed', 'neither an Assertion nor a Response')
  const [status, ...more] = childrenNamed(root, SAML.protocol, 'Status')
  const [code] = status === undefined ? [] : childrenNamed(status, SAML.protocol, 'StatusCode')
  if (more.length > 0 || code === undefined || attributeOf(code, 'Value') !== SAML.success)
    throw new RefusedAssertion('status')
  return { assertion: onlyAssertion(root), response: root }
}

/**
 * Checks the attributes of a response (SAML Core, section 3.2.2; Bindings, section 3.5.5.2), signed or not.
 */
function checkResponse(response: XmlElement, { issuer, recipient }: AssertionRules): void {
  if (attributeOf(response, 'Version') !== '2.0')
    throw new RefusedAssertion('malformed', 'the response is not version 2.0')
  const issuers = childrenNamed(response, SAML.assertion, 'Issuer')
  if (issuers.length > 1 || (issuers.length === 1 && plainText(issuers[0]!) !== issuer))
    throw new RefusedAssertion('issuer', 'the response names another issuer')
  const destination = attributeOf(response, 'Destination')
  if (recipient !== null && destination !== null && destination !== recipient)
    throw new RefusedAssertion('recipient', 'the response was sent to another destination')
}

function inSecurityHeader(root: XmlElement): Found {
  const { header } = readEnvelope(root.doc)
  const blocks = header === null ? [] : childrenNamed(header, NS.wsse, 'Security')
  const holders = blocks.filter((block) => childrenNamed(block, SAML.assertion, 'Assertion').length > 0)
  if (holders.length === 0) throw new RefusedAssertion('missing')
  if (holders.length > 1) throw new RefusedAssertion('malformed', 'more than one assertion')
  return { assertion: onlyAssertion(holders[0]!), response: null }
}

function onlyAssertion(parent: XmlElement): XmlElement {
  const [assertion, ...more] = childrenNamed(parent, SAML.assertion, 'Assertion')
  if (childrenNamed(parent, SAML.assertion, 'EncryptedAssertion').length > 0)
    throw new RefusedAssertion('encrypted')
  if (assertion === undefined || more.length > 0)
    throw new RefusedAssertion('malformed', 'expected exactly one assertion')
  return assertion
}
