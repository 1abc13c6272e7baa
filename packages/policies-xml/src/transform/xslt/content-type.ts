const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  xhtml: 'application/xhtml+xml; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  json: 'application/json',
}

const XML_TYPE = 'application/xml; charset=utf-8'
/** Matches the charset parameter with its value (RFC 9110 section 5.6.6). */
const CHARSET = /;[ \t]*charset=(?:"[^"]{0,64}"|[^;,\s"]{0,64})/i

/**
 * Returns the function that derives the content type of a result from that of the body. An XML type is kept,
 * except for its charset.
 * @param method output method of `xsl:output`, or an empty string.
 */
export function resultType(method: string, configured: string | undefined): (before: string) => string {
  const fixed = configured ?? TYPES[method]
  if (fixed !== undefined) return () => fixed
  return (before) => {
    if (!/^[^;]*xml/i.test(before)) return XML_TYPE
    return before.replace(CHARSET, '; charset=utf-8')
  }
}
