/**
 * Returns the type and subtype of a Content-Type in lower case, without parameters (RFC 9110 section 8.3.1).
 */
export function mediaType(contentType: string): string {
  const semicolon = contentType.indexOf(';')
  return (semicolon === -1 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase()
}

/** Media type of URL-encoded forms. */
export const FORM_TYPE = 'application/x-www-form-urlencoded'

/** Returns true for JSON media types. @param type In lower case, without parameters. */
export function isJsonType(type: string): boolean {
  return type.endsWith('/json') || type.endsWith('+json')
}
