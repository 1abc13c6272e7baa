import { makeCertificate } from '@sluice/policies/testing'
import { SignedXml } from 'xml-crypto'

const DSIG_MORE = 'http://www.w3.org/2001/04/xmldsig-more#'
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#'
const ENVELOPED = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature'

export const idp = makeCertificate({ name: 'idp' })
export const stranger = makeCertificate({ name: 'idp' })
export const ENTITY = 'https://idp.example.com'
export const AUDIENCE = 'urn:shop'
export const ACS = 'https://shop.example.com/acs'

/** Overrides for an assertion. Null omits a part. */
export interface AssertionParts {
  readonly id?: string
  readonly issuer?: string
  /** NameID as XML. */
  readonly nameId?: string
  readonly audience?: string | null
  readonly recipient?: string | null
  readonly inResponseTo?: string
  readonly method?: string
  /** Time in seconds from now. */
  readonly issued?: number
  readonly notBefore?: number
  readonly notOnOrAfter?: number | null
  readonly confirmedUntil?: number | null
  /** End of the session at the provider. */
  readonly sessionEnd?: number
  /** Additional conditions as XML. */
  readonly conditions?: string
  /** Additional content as XML. */
  readonly more?: string
}

let count = 0

/** Returns an unsigned assertion. */
export function assertionXml(parts: AssertionParts = {}): string {
  const { id = `_a${++count}`, issuer = ENTITY, nameId = 'ann', audience = AUDIENCE, recipient = ACS } = parts
  const { notBefore = -10, notOnOrAfter = 300, confirmedUntil = 300, issued = 0 } = parts
  const at = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString()
  const time = (name: string, seconds: number | null): string =>
    seconds === null ? '' : ` ${name}="${at(seconds)}"`
  const method = parts.method ?? 'urn:oasis:names:tc:SAML:2.0:cm:bearer'
  const answered = parts.inResponseTo === undefined ? '' : ` InResponseTo="${parts.inResponseTo}"`
  return (
    `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${id}" Version="2.0" IssueInstant="${at(issued)}">` +
    `<saml:Issuer>${issuer}</saml:Issuer><saml:Subject><saml:NameID>${nameId}</saml:NameID>` +
    `<saml:SubjectConfirmation Method="${method}"><saml:SubjectConfirmationData${time('NotOnOrAfter', confirmedUntil)}` +
    `${recipient === null ? '' : ` Recipient="${recipient}"`}${answered}/></saml:SubjectConfirmation></saml:Subject>` +
    `<saml:Conditions${time('NotBefore', notBefore)}${time('NotOnOrAfter', notOnOrAfter)}>` +
    `${audience === null ? '' : `<saml:AudienceRestriction><saml:Audience>${audience}</saml:Audience></saml:AudienceRestriction>`}` +
    `${parts.conditions ?? ''}</saml:Conditions><saml:AuthnStatement AuthnInstant="${at(0)}" SessionIndex="s1"${time('SessionNotOnOrAfter', parts.sessionEnd ?? null)}/>` +
    '<saml:AttributeStatement><saml:Attribute Name="email"><saml:AttributeValue>ann@example.com</saml:AttributeValue></saml:Attribute>' +
    '<saml:Attribute Name="groups"><saml:AttributeValue>staff</saml:AttributeValue><saml:AttributeValue>readers</saml:AttributeValue></saml:Attribute>' +
    `</saml:AttributeStatement>${parts.more ?? ''}</saml:Assertion>`
  )
}

/** Wraps content in a response. @param attributes additional attributes as XML. */
export function responseXml(content: string, status = 'Success', attributes = ''): string {
  return (
    `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_r1" Version="2.0"${attributes}>` +
    `<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:${status}"/></samlp:Status>${content}</samlp:Response>`
  )
}

export interface SigningOptions {
  readonly keyPem?: string
  readonly algorithm?: string
  readonly digest?: string
  readonly transforms?: readonly string[]
  /** Local name of the signed element. */
  readonly element?: 'Assertion' | 'Response'
}

/** Signs an element with an independent library, and inserts the signature after its first child. */
export function signedXml(xml: string, options: SigningOptions = {}): string {
  const { keyPem = idp.keyPem, element = 'Assertion' } = options
  const signature = new SignedXml({
    privateKey: keyPem,
    signatureAlgorithm: (options.algorithm ?? `${DSIG_MORE}rsa-sha256`) as never,
    canonicalizationAlgorithm: EXCLUSIVE,
  })
  signature.addReference({
    xpath: `//*[local-name(.)='${element}']`,
    digestAlgorithm: (options.digest ?? 'http://www.w3.org/2001/04/xmlenc#sha256') as never,
    transforms: [...(options.transforms ?? [ENVELOPED, EXCLUSIVE])] as never,
  })
  const location = { reference: `//*[local-name(.)='${element}']/*[1]`, action: 'after' as const }
  signature.computeSignature(xml, { location })
  return signature.getSignedXml()
}

/** Returns an acceptable assertion. */
export function goodAssertion(parts: AssertionParts = {}, options: SigningOptions = {}): string {
  return signedXml(assertionXml(parts), options)
}
