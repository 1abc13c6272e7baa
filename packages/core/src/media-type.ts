/** Type and subtype of a Content-Type in lower case, without parameters (RFC 9110 section 8.3.1). */
export function mediaType(contentType: string): string {
  const semicolon = contentType.indexOf(';')
  return (semicolon === -1 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase()
}
