import { DEFAULT_DEPTH, XML_LIMITS, type XmlLimits } from '../xml/limits.js'

/** A file in base64, because threads distinguish configurations by their JSON. */
export interface SourceFile {
  /** Base URL of the file, for relative references. Nothing is fetched from it. */
  readonly url: string
  readonly base64: string
  /**
   * True if it was parsed and checked as XML. Other files are only available to `document()` and
   * `unparsed-text()`.
   */
  readonly isXml: boolean
}

/** A stylesheet and all files that it may read. */
export interface StylesheetSource {
  readonly main: SourceFile
  readonly imports: readonly SourceFile[]
  /** Stylesheet that copies the selected element, or null to transform the whole body. */
  readonly selection: SourceFile | null
  readonly version: '1.0' | '2.0' | '3.0'
  /** Output method of `xsl:output`, or an empty string. */
  readonly method: string
}

/** Limits of one transformation. */
export interface RunLimits {
  readonly timeoutMs: number
  readonly maxOutputBytes: number
}

/** Namespace of XSLT. */
export const XSL = 'http://www.w3.org/1999/XSL/Transform'

/**
 * Limits for input documents. Templates recurse once per level, and the stack of libxslt has room for about twice
 * this depth.
 */
export const INPUT_LIMITS: XmlLimits = { ...XML_LIMITS, maxDepth: DEFAULT_DEPTH }

/** Returns the bytes of a file. */
export function bytesOf({ base64 }: SourceFile): Uint8Array {
  return Buffer.from(base64, 'base64')
}

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
    .map((file) => [file.url.slice(file.url.indexOf(':') + 1), decoder.decode(bytesOf(file))])
}
