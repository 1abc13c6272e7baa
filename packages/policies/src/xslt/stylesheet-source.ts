import { readFileSync } from 'node:fs'
import type { XmlDocument, XmlElement } from 'libxml2-wasm'
import { libxml, loadLibxml } from '../xml/libxml.js'
import { type Renaming, renamingOf } from './rename/renaming.js'
import type { XsltConfig } from './schema.js'

/** A document in base64, because threads are told configurations apart by their JSON. */
export interface SourceFile {
  /** Its address. Nothing is there; relative ones begin at it. */
  readonly url: string
  readonly base64: string
}

/** A stylesheet and all that it may read, from the files of the configuration. */
export interface StylesheetSource {
  readonly main: SourceFile
  readonly imports: readonly SourceFile[]
  /** A stylesheet that copies the selected element; null when the whole body is transformed. */
  readonly selection: SourceFile | null
  readonly version: '1.0' | '2.0' | '3.0'
  /** What it does, when that is nothing but copying and renaming; null for all others. */
  readonly renaming: Renaming | null
  /** The output method of `xsl:output`; empty when the stylesheet names none. */
  readonly method: string
}

const XSL = 'http://www.w3.org/1999/XSL/Transform'
const BASE = 'gateway:/'
const MAX_FILE_BYTES = 2_000_000

/** Elements that write files in some processor: namespace and name. */
const WRITING: readonly (readonly [string, string])[] = [
  [XSL, 'document'],
  [XSL, 'result-document'],
  ['http://exslt.org/common', 'document'],
  ['http://www.jclark.com/xt', 'document'],
  ['http://icl.com/saxon', 'output'],
  ['http://xml.apache.org/xalan/redirect', 'write'],
  ['org.apache.xalan.xslt.extensions.Redirect', 'write'],
]

/**
 * Reads the files of a configuration and finds what can be said about the stylesheet before it is compiled.
 * @throws Error for what the operator has to mend.
 */
export async function readStylesheet(config: XsltConfig): Promise<StylesheetSource> {
  await loadLibxml()
  const bytes = mainBytes(config)
  const imports = new Map(
    Object.entries(config.imports ?? {}).map(([name, path]) => [addressOf(name), readFile(path)] as const),
  )
  const url = `${BASE}stylesheet.xsl`
  const method = checked(bytes, 'the stylesheet', url, imports)
  for (const [address, each] of imports) {
    if (isStylesheet(each)) checked(each, `the import '${address.slice(BASE.length)}'`, address, imports)
  }
  const selection = selectionOf(config)
  const { version: said, renaming } = judged(bytes)
  const version = config.version ?? said
  return {
    main: sourceFile(url, bytes),
    imports: [...imports].map(([address, each]) => sourceFile(address, each)),
    selection,
    version,
    renaming: version === '1.0' && selection === null ? renaming : null,
    method,
  }
}

function sourceFile(url: string, bytes: Uint8Array): SourceFile {
  return { url, base64: Buffer.from(bytes).toString('base64') }
}

/** Documents for `document()` need not be XML that we can judge; the engine reads them. */
function isStylesheet(bytes: Uint8Array): boolean {
  return Buffer.from(bytes).includes(XSL)
}

function selectionOf({ select, namespaces = {} }: XsltConfig): SourceFile | null {
  if (select === undefined) return null
  const declared = Object.entries(namespaces).map(([prefix, uri]) => {
    if (!/^[A-Za-z_][\w.-]*$/.test(prefix)) throw new Error(`'${prefix}' is not a namespace prefix`)
    return ` xmlns:${prefix}="${escaped(uri)}"`
  })
  const text =
    `<xsl:stylesheet version="1.0" xmlns:xsl="${XSL}"${declared.join('')}>` +
    `<xsl:template match="/"><xsl:copy-of select="(${escaped(select)})[self::*][1]"/></xsl:template></xsl:stylesheet>`
  return sourceFile(`${BASE}select`, Buffer.from(text))
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

function mainBytes({ stylesheet: { file, inline } }: XsltConfig): Uint8Array {
  if ((file === undefined) === (inline === undefined)) {
    throw new Error("'stylesheet' takes either file or inline")
  }
  return file === undefined ? Buffer.from(inline!) : readFile(file)
}

function readFile(path: string): Uint8Array {
  const bytes = readFileSync(path)
  if (bytes.length > MAX_FILE_BYTES) throw new Error(`'${path}' is larger than ${MAX_FILE_BYTES} bytes`)
  return new Uint8Array(bytes)
}

function addressOf(name: string, base = BASE): string {
  if (!URL.canParse(name, base)) throw new Error(`'${name}' is not a name that a stylesheet can refer to`)
  return new URL(name, base).href
}

/** @returns the output method that it names. */
function checked(
  bytes: Uint8Array,
  what: string,
  address: string,
  imports: ReadonlyMap<string, Uint8Array>,
): string {
  const document = parse(bytes, what)
  try {
    refuseWriting(document, what)
    for (const name of attributes(document, '//xsl:import/@href | //xsl:include/@href')) {
      if (imports.has(addressOf(name, address))) continue
      throw new Error(`${what} imports '${name}', which 'imports' does not have; add it with its file`)
    }
    const encoding = attributes(document, '//xsl:output/@encoding').find((each) => !/^utf-?8$/i.test(each))
    if (encoding !== undefined) throw new Error(`${what} asks for '${encoding}'; results are in UTF-8`)
    return attributes(document, '//xsl:output/@method')[0] ?? ''
  } finally {
    document.dispose()
  }
}

function refuseWriting(document: XmlDocument, what: string): void {
  for (const [namespace, name] of WRITING) {
    const path = `//*[local-name() = '${name}' and namespace-uri() = '${namespace}']`
    if (document.get(path) !== null) throw new Error(`${what} has an element '${name}', which writes files`)
  }
}

function attributes(document: XmlDocument, path: string): string[] {
  return document.find(path, { xsl: XSL }).map((attribute) => attribute.content.trim())
}

/** Stylesheets come from the operator and may declare entities; they still read nothing but themselves. */
function parse(bytes: Uint8Array, what: string): XmlDocument {
  const { XmlDocument: Document, ParseOption } = libxml()
  const { XML_PARSE_NONET, XML_PARSE_NO_XXE, XML_PARSE_NOENT } = ParseOption
  try {
    return Document.fromBuffer(bytes, { option: XML_PARSE_NONET | XML_PARSE_NO_XXE | XML_PARSE_NOENT })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.trim() : String(cause)
    throw new Error(`${what} is not well-formed XML: ${reason}`, { cause })
  }
}

function judged(bytes: Uint8Array): Pick<StylesheetSource, 'version' | 'renaming'> {
  const document = parse(bytes, 'the stylesheet')
  try {
    const { root } = document
    const isLiteral = root.namespaceUri !== XSL
    if (!isLiteral && root.name !== 'stylesheet' && root.name !== 'transform') {
      throw new Error(`the stylesheet begins with 'xsl:${root.name}'; it has to begin with 'xsl:stylesheet'`)
    }
    return { version: versionNumber(versionAttribute(root, isLiteral)), renaming: renamingOf(root) }
  } finally {
    document.dispose()
  }
}

function versionAttribute(root: XmlElement, isLiteral: boolean): string {
  const path = isLiteral ? '@xsl:version' : '@version'
  const found = root.get(path, { xsl: XSL })
  if (found === null)
    throw new Error(`the stylesheet has no ${path.slice(1)} at its first element; write 1.0, 2.0 or 3.0`)
  return found.content.trim()
}

function versionNumber(said: string): StylesheetSource['version'] {
  const version = Number(said)
  if (!(version >= 1)) throw new Error(`the stylesheet says version '${said}'; write 1.0, 2.0 or 3.0`)
  if (version < 2) return '1.0'
  return version < 3 ? '2.0' : '3.0'
}
