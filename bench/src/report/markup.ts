/** Not allowed in XML, and of no use in a page: control characters, halves of surrogate pairs, non-characters. */
const FORBIDDEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text made safe for the content and the attributes of HTML and XML. */
export function escaped(text: string): string {
  return text.replace(FORBIDDEN, '\ufffd').replace(/[&<>"']/g, (character) => ENTITIES[character]!)
}

/** Text made safe for a cell of a Markdown table: no markup of any kind, one line. */
export function markdownText(text: string): string {
  return text
    .replace(FORBIDDEN, '\ufffd')
    .replace(/\s+/g, ' ')
    .replace(/[&<>]/g, (character) => ENTITIES[character]!)
    .replace(/[\\`*_[\]|~#!]/g, (character) => `\\${character}`)
}
