import type { StylesheetSource } from '../../../catalog/xslt/stylesheet-source.js'

/**
 * What SaxonJS can read of a stylesheet and its imports: path and text.
 * @param which `xml` for the compiler, which must not take for a stylesheet what nobody could check.
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
