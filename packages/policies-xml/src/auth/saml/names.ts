/** Namespaces and identifiers of SAML 2.0 (OASIS). */
export const SAML = {
  assertion: 'urn:oasis:names:tc:SAML:2.0:assertion',
  protocol: 'urn:oasis:names:tc:SAML:2.0:protocol',
  metadata: 'urn:oasis:names:tc:SAML:2.0:metadata',
  bearer: 'urn:oasis:names:tc:SAML:2.0:cm:bearer',
  success: 'urn:oasis:names:tc:SAML:2.0:status:Success',
  redirect: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect',
  post: 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST',
} as const

/** Enveloped-signature transform of XML Signature. */
export const ENVELOPED = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature'
