const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** Escapes text for an XML element or attribute. */
export function escapedXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character]!)
}
