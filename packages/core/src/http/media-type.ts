/** Type and subtype of a Content-Type in lower case, without parameters (RFC 9110 section 8.3.1). */
export function mediaType(contentType: string): string {
  const semicolon = contentType.indexOf(';')
  return (semicolon === -1 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase()
}

/** The media type of forms. */
export const FORM_TYPE = 'application/x-www-form-urlencoded'

/** Whether bodies of a media type are JSON. @param type in lower case, without parameters. */
export function isJsonType(type: string): boolean {
  return type.endsWith('/json') || type.endsWith('+json')
}
