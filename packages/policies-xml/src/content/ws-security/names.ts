/** Namespaces of SOAP, WS-Security (OASIS), XML Signature and XML Encryption (W3C). */
export const NS = {
  soap11: 'http://schemas.xmlsoap.org/soap/envelope/',
  soap12: 'http://www.w3.org/2003/05/soap-envelope',
  wsse: 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd',
  wsu: 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd',
  ds: 'http://www.w3.org/2000/09/xmldsig#',
  ec: 'http://www.w3.org/2001/10/xml-exc-c14n#',
  xenc: 'http://www.w3.org/2001/04/xmlenc#',
  xenc11: 'http://www.w3.org/2009/xmlenc11#',
} as const

const USERNAME_PROFILE = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0'
const X509_PROFILE = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-x509-token-profile-1.0'
const MESSAGE_SECURITY = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0'

/** Identifiers of tokens, passwords and encodings in the WS-Security profiles. */
export const TOKEN = {
  passwordText: `${USERNAME_PROFILE}#PasswordText`,
  passwordDigest: `${USERNAME_PROFILE}#PasswordDigest`,
  x509: `${X509_PROFILE}#X509v3`,
  subjectKeyIdentifier: `${X509_PROFILE}#X509SubjectKeyIdentifier`,
  thumbprint: 'http://docs.oasis-open.org/wss/oasis-wss-soap-message-security-1.1#ThumbprintSHA1',
  base64: `${MESSAGE_SECURITY}#Base64Binary`,
} as const

/** Types of xenc:EncryptedData. */
export const ENCRYPTED = {
  element: 'http://www.w3.org/2001/04/xmlenc#Element',
  content: 'http://www.w3.org/2001/04/xmlenc#Content',
} as const

/** SOAP 1.2 role of the final receiver, equivalent to no role. */
export const ULTIMATE_RECEIVER = 'http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver'
