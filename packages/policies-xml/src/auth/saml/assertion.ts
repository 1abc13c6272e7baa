import { UnreadableBody } from '@sluice/core'
import { parseTime } from '@sluice/policies/shared/time/utc-time'
import { type XmlElement, XmlError } from 'libxml2-wasm'
import {
  attributeOf,
  childElements,
  childrenNamed,
  isElement,
  plainText,
} from '../../content/ws-security/elements.js'
import { SecurityFault } from '../../content/ws-security/fault.js'
import { parseXml } from '../../engines/xml/gate.js'
import { XML_LIMITS } from '../../engines/xml/limits.js'
import type { IssuerKey } from './idp.js'
import { SAML } from './names.js'
import { type AssertionIssue, RefusedAssertion } from './refused-assertion.js'
import {
  type AssertionPlace,
  type AssertionRules,
  type SignedAssertion,
  signedAssertion,
} from './signed-assertion.js'

/** Maximum size of a document with an assertion, in bytes. */
export const MAX_ASSERTION_BYTES = 256 * 1024
const LIMITS = { ...XML_LIMITS, maxBytes: MAX_ASSERTION_BYTES, maxDepth: 32, maxNodes: 5000 }
const MAX_ATTRIBUTES = 256
const MAX_VALUES = 1000
const MAX_TEXT_LENGTH = 4096
const MAX_ID_LENGTH = 256

/** An assertion with a valid signature, validity period and audience. Can be cloned. */
export interface Assertion {
  readonly id: string
  readonly nameId: string
  readonly attributes: readonly (readonly [name: string, values: readonly string[]])[]
  readonly issuedMs: number
  /**
   * Time when the assertion or the certificate behind it expires, including the clock difference, in
   * milliseconds since 1970.
   */
  readonly validUntilMs: number
  readonly isOneTime: boolean
  /** Ids of the requests that it answers. Empty if none. */
  readonly inResponseTo: readonly string[]
  /** End of the first session at the issuer, or null if not given. */
  readonly sessionUntilMs: number | null
}

/** Result of a verification. Can be cloned. */
export type VerificationResult =
  | { readonly assertion: Assertion }
  | { readonly issue: AssertionIssue; readonly reason: string }

/** Reads and checks the assertion in a document (SAML Core 2.0). @throws UnreadableBody only on overload. */
export function attemptAssertion(
  bytes: Uint8Array,
  place: AssertionPlace,
  rules: AssertionRules,
  nowMs: number,
): VerificationResult {
  try {
    return { assertion: readAssertion(bytes, place, rules, nowMs) }
  } catch (problem) {
    if (!(problem instanceof RefusedAssertion)) throw problem
    return { issue: problem.issue, reason: problem.message }
  }
}

function readAssertion(
  bytes: Uint8Array,
  place: AssertionPlace,
  rules: AssertionRules,
  nowMs: number,
): Assertion {
  const isValid = ({ validFromMs, validToMs }: IssuerKey) => nowMs >= validFromMs && nowMs <= validToMs
  const now = { ...rules, keys: rules.keys.filter(isValid) }
  if (now.keys.length === 0)
    throw new RefusedAssertion(
      'signature',
      'no certificate of the issuer is currently valid, or its metadata have expired',
    )
  try {
    const view = parseXml(bytes, LIMITS)
    try {
      return checkedAssertion(signedAssertion(view.document.root, place, now), rules, nowMs)
    } finally {
      view.close()
    }
  } catch (problem) {
    if (problem instanceof UnreadableBody) {
      if (problem.code === 'GW_OVERLOADED') throw problem
      throw new RefusedAssertion('malformed', problem.message)
    }
    if (problem instanceof SecurityFault) {
      const isSignature = problem.code === 'FailedCheck' || problem.code === 'UnsupportedAlgorithm'
      throw new RefusedAssertion(isSignature ? 'signature' : 'malformed', problem.message)
    }
    // Input without a canonical form, such as relative namespaces.
    if (problem instanceof XmlError) throw new RefusedAssertion('malformed', problem.message)
    throw problem
  }
}

function checkedAssertion(signed: SignedAssertion, rules: AssertionRules, nowMs: number): Assertion {
  const { element: assertion, certifiedUntilMs, responseTo } = signed
  const id = attributeOf(assertion, 'ID')
  if (id === null || id === '' || id.length > MAX_ID_LENGTH || attributeOf(assertion, 'Version') !== '2.0')
    throw new RefusedAssertion('malformed', 'the assertion has no ID or is not version 2.0')
  const issuer = textOf(only(assertion, 'Issuer'))
  if (issuer !== rules.issuer) throw new RefusedAssertion('issuer')
  const issuedMs = timeOf(assertion, 'IssueInstant')
  if (issuedMs === null) throw new RefusedAssertion('malformed', 'no IssueInstant')
  if (issuedMs > nowMs + rules.skewMs) throw new RefusedAssertion('notYetValid')
  const conditions = checkConditions(only(assertion, 'Conditions'), rules, nowMs)
  const subject = only(assertion, 'Subject')
  const confirmation = checkConfirmation(subject, rules, nowMs)
  if (responseTo !== null && !confirmation.inResponseTo.includes(responseTo))
    throw new RefusedAssertion('recipient', 'the response answers another request than the assertion')
  const logins = childrenNamed(assertion, SAML.assertion, 'AuthnStatement')
  const sessionEnds = logins
    .map((login) => timeOf(login, 'SessionNotOnOrAfter'))
    .filter((endMs) => endMs !== null)
  return {
    ...{ id, nameId: textOf(only(subject, 'NameID')), attributes: attributesOf(assertion), issuedMs },
    validUntilMs: Math.min(conditions.untilMs, confirmation.untilMs, certifiedUntilMs),
    isOneTime: conditions.isOneTime,
    inResponseTo: confirmation.inResponseTo,
    sessionUntilMs: sessionEnds.length === 0 ? null : Math.min(...sessionEnds),
  }
}

/** Checks the conditions (SAML Core, section 2.5.1). An unknown condition is not met. */
function checkConditions(
  conditions: XmlElement,
  { audience, skewMs }: AssertionRules,
  nowMs: number,
): { readonly untilMs: number; readonly isOneTime: boolean } {
  const untilMs = checkTimes(conditions, skewMs, nowMs)
  let isForUs = false
  let isOneTime = false
  for (const condition of childElements(conditions)) {
    if (isElement(condition, SAML.assertion, 'OneTimeUse')) isOneTime = true
    else if (isElement(condition, SAML.assertion, 'AudienceRestriction')) {
      const audiences = childrenNamed(condition, SAML.assertion, 'Audience').map(textOf)
      if (!audiences.includes(audience)) throw new RefusedAssertion('audience')
      isForUs = true
    } else if (!isElement(condition, SAML.assertion, 'ProxyRestriction'))
      throw new RefusedAssertion('malformed', 'unknown condition')
  }
  if (!isForUs) throw new RefusedAssertion('audience', 'the assertion names no audience')
  return { untilMs, isOneTime }
}

/**
 * Checks the subject confirmation. One valid bearer confirmation is enough (Web Browser SSO Profile, section
 * 4.1.4.2).
 */
function checkConfirmation(
  subject: XmlElement,
  { recipient, skewMs }: AssertionRules,
  nowMs: number,
): { readonly untilMs: number; readonly inResponseTo: readonly string[] } {
  let issue = new RefusedAssertion('recipient', 'no bearer confirmation')
  for (const confirmation of childrenNamed(subject, SAML.assertion, 'SubjectConfirmation')) {
    if (attributeOf(confirmation, 'Method') !== SAML.bearer) continue
    const [data] = childrenNamed(confirmation, SAML.assertion, 'SubjectConfirmationData')
    if (data === undefined) {
      if (recipient === null) return { untilMs: Number.POSITIVE_INFINITY, inResponseTo: [] }
      continue
    }
    const named = attributeOf(data, 'Recipient')
    if (recipient !== null && named !== recipient) {
      issue = new RefusedAssertion('recipient')
      continue
    }
    try {
      const untilMs = checkTimes(data, skewMs, nowMs)
      const answered = attributeOf(data, 'InResponseTo')
      return { untilMs, inResponseTo: answered === null ? [] : [answered] }
    } catch (problem) {
      if (!(problem instanceof RefusedAssertion)) throw problem
      issue = problem
    }
  }
  throw issue
}

/**
 * Returns the end of the validity period, including the clock difference.
 * @throws RefusedAssertion outside the period, or if it has no end.
 */
function checkTimes(element: XmlElement, skewMs: number, nowMs: number): number {
  const before = timeOf(element, 'NotBefore')
  const end = timeOf(element, 'NotOnOrAfter')
  if (end === null) throw new RefusedAssertion('malformed', `${element.name} has no NotOnOrAfter`)
  if (before !== null && nowMs < before - skewMs) throw new RefusedAssertion('notYetValid')
  if (nowMs >= end + skewMs) throw new RefusedAssertion('expired')
  return end + skewMs
}

function attributesOf(assertion: XmlElement): Assertion['attributes'] {
  const found: [string, string[]][] = []
  let values = 0
  for (const statement of childrenNamed(assertion, SAML.assertion, 'AttributeStatement')) {
    for (const attribute of childrenNamed(statement, SAML.assertion, 'Attribute')) {
      const name = attributeOf(attribute, 'Name')
      if (name === null || name === '' || name.length > MAX_ID_LENGTH)
        throw new RefusedAssertion('malformed', 'attribute without a name')
      const texts = childrenNamed(attribute, SAML.assertion, 'AttributeValue', MAX_VALUES).flatMap(valuesOf)
      values += texts.length
      if (found.length >= MAX_ATTRIBUTES || values > MAX_VALUES)
        throw new RefusedAssertion('malformed', 'too many attributes')
      found.push([name, texts])
    }
  }
  return found
}

/** Returns the text of a value, or nothing if it has child elements. */
function valuesOf(element: XmlElement): string[] {
  if (element.firstChild === null) return ['']
  return childElements(element).length > 0 ? [] : [textOf(element)]
}

function only(parent: XmlElement, name: string): XmlElement {
  const [child, ...more] = childrenNamed(parent, SAML.assertion, name)
  if (child === undefined || more.length > 0)
    throw new RefusedAssertion('malformed', `expected exactly one ${name} in ${parent.name}`)
  return child
}

/**
 * Returns the text of an element. Comments are refused: they are not signed, and some parsers cut the value
 * there.
 */
function textOf(element: XmlElement): string {
  const text = plainText(element)
  if (text.length > MAX_TEXT_LENGTH) throw new RefusedAssertion('malformed', `${element.name} is too long`)
  return text
}

/** Returns a time in UTC (SAML Core, section 1.3.3), or null if it is missing. */
function timeOf(element: XmlElement, name: string): number | null {
  const text = attributeOf(element, name)
  if (text === null) return null
  const ms = parseTime(text)
  if (Number.isNaN(ms)) throw new RefusedAssertion('malformed', `${name} is not a time in UTC`)
  return ms
}
