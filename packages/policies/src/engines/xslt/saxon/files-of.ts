import type { StylesheetSource } from '../../../transform/xslt/stylesheet-source.js'

/**
 * Returns the files of a stylesheet for SaxonJS, as path and text.
 * @param which `xml` for the compiler, so that it cannot read an unchecked file as a stylesheet.
 */
export function filesOf(
  { main, imports }: StylesheetSource,
  which: 'xml' | 'all' = 'all',
): [path: string, text: string][] {
  const decoder = new TextDecoder()
  return [main, ...imports]
    .filter(({ isXml }) => isXml || which === 'all')
    .map(({ url, base64 }) => [
      url.slice(url.indexOf(':') + 1),
      decoder.decode(Buffer.from(base64, 'base64')),
    ])
}
