import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { deflateRawSync } from 'node:zlib'
import { buildXml, element } from '../../engines/xml/xml-builder.js'
import { SAML } from '../saml/names.js'

const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'

interface AuthnRequestOptions {
  readonly ssoUrl: string
  readonly acsUrl: string
  readonly issuer: string
  /** Private key in PEM. If absent, requests are not signed. */
  readonly signingKey?: string | undefined
}

/**
 * Returns a function that creates login URLs (SAML Bindings, section 3.4) with an AuthnRequest (SAML Core,
 * section 3.4.1).
 * @throws Error for an invalid address or key.
 */
export function compileAuthnRequest(
  options: AuthnRequestOptions,
): (id: string, relayState: string) => string {
  const { ssoUrl, acsUrl, issuer, signingKey } = options
  if (!URL.canParse(ssoUrl) || !/^https?:$/.test(new URL(ssoUrl).protocol))
    throw new Error("'idp.ssoUrl' is not a URL: use https://host/path")
  const key = signingKey === undefined ? null : rsaKey(signingKey)
  const namespaces = { 'xmlns:samlp': SAML.protocol, 'xmlns:saml': SAML.assertion }
  const addresses = { Destination: ssoUrl, AssertionConsumerServiceURL: acsUrl, ProtocolBinding: SAML.post }
  const content = [element('saml:Issuer', issuer), element('samlp:NameIDPolicy', [], { AllowCreate: 'true' })]
  return (id, relayState) => {
    const times = { Version: '2.0', ID: id, IssueInstant: new Date().toISOString() }
    const xml = buildXml(element('samlp:AuthnRequest', content, { ...namespaces, ...times, ...addresses }))
    const form = new URLSearchParams({
      SAMLRequest: deflateRawSync(xml).toString('base64'),
      RelayState: relayState,
    })
    if (key !== null) {
      form.set('SigAlg', RSA_SHA256)
      form.set('Signature', sign('sha256', Buffer.from(form.toString()), key).toString('base64'))
    }
    return `${ssoUrl}${ssoUrl.includes('?') ? '&' : '?'}${form}`
  }
}

function rsaKey(pem: string): KeyObject {
  try {
    const key = createPrivateKey(pem)
    if (key.asymmetricKeyType === 'rsa') return key
  } catch {
    // Never put parts of the key into a message.
  }
  throw new Error("'signingKey.key' is not an RSA key in PEM")
}
