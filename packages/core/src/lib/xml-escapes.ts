const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** Text as it stands in an element or an attribute of XML. */
export function escapedXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character]!)
}
