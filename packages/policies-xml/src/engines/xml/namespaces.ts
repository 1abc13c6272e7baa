const WSS = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity'

/** Predefined namespace prefixes for XPath expressions. */
export const KNOWN_PREFIXES: Readonly<Record<string, string>> = {
  soap: 'http://schemas.xmlsoap.org/soap/envelope/',
  soap12: 'http://www.w3.org/2003/05/soap-envelope',
  wsse: `${WSS}-secext-1.0.xsd`,
  wsu: `${WSS}-utility-1.0.xsd`,
  ds: 'http://www.w3.org/2000/09/xmldsig#',
  xenc: 'http://www.w3.org/2001/04/xmlenc#',
  xs: 'http://www.w3.org/2001/XMLSchema',
  xsi: 'http://www.w3.org/2001/XMLSchema-instance',
  xml: 'http://www.w3.org/XML/1998/namespace',
}
