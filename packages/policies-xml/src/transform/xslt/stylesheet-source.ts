import { readFileSync } from 'node:fs'
import type { TextSource } from '@sluice/policies/shared/options/text-source'
import type { XmlDocument, XmlElement } from 'libxml2-wasm'
import { libxml, loadLibxml } from '../../engines/xml/libxml.js'
import { KNOWN_PREFIXES } from '../../engines/xml/namespaces.js'
import { buildXml, element } from '../../engines/xml/xml-builder.js'
import { prefixesOf } from '../../engines/xml/xpath-words.js'
import { namesOf, type StylesheetNames } from '../../engines/xslt/libxslt/stylesheet-names.js'
import { refuseCode } from '../../engines/xslt/saxon/stylesheet-code.js'
import { type SourceFile, type StylesheetSource, XSL } from '../../engines/xslt/stylesheet.js'
import type { XsltConfig } from './schema.js'

/** A stylesheet source, with data needed only for checks. */
export interface ReadStylesheet {
  readonly source: StylesheetSource
  /**
   * Names used by the modules of an XSLT 1.0 stylesheet. Empty for other versions, and if they cannot be
   * determined.
   */
  readonly names: readonly StylesheetNames[]
}

const BASE = 'gateway:/'
const MAX_FILE_BYTES = 2_000_000

/** Elements that write files in some processors, as namespace and name. */
const WRITING: readonly (readonly [string, string])[] = [
  [XSL, 'result-document'],
  ['http://exslt.org/common', 'document'],
  ['http://www.jclark.com/xt', 'document'],
  ['http://icl.com/saxon', 'output'],
  ['http://xml.apache.org/xalan/redirect', 'write'],
  ['org.apache.xalan.xslt.extensions.Redirect', 'write'],
]

/**
 * Reads the files of a configuration and analyses the stylesheet before compilation.
 * @throws Error for an invalid stylesheet or configuration.
 */
export async function readStylesheet(config: XsltConfig): Promise<ReadStylesheet> {
  await loadLibxml()
  const bytes = bytesOf(config.stylesheet)
  const version = config.version ?? versionOf(bytes)
  const imports = new Map(
    Object.entries(config.imports ?? {}).map(([name, from]) => [addressOf(name), bytesOf(from)] as const),
  )
  const reader = { imports, version }
  const url = `${BASE}stylesheet.xsl`
  const main = readSource(reader, bytes, { address: url, label: 'the stylesheet', isImport: false })
  const others = [...imports].map(([address, each]) => {
    const label = `the import '${address.slice(BASE.length)}'`
    return readSource(reader, each, { address, label, isImport: true })
  })
  const source: StylesheetSource = {
    main: main.file,
    imports: others.map(({ file }) => file),
    selection: selectionOf(config),
    version,
    method: main.method,
  }
  return { source, names: [main, ...others].flatMap(({ names }) => (names === null ? [] : [names])) }
}

interface Reader {
  readonly imports: ReadonlyMap<string, Uint8Array>
  readonly version: StylesheetSource['version']
}

interface SourceName {
  readonly address: string
  /** Name of the source in messages. */
  readonly label: string
  readonly isImport: boolean
}

/** Reads a source. Imports may be any kind of file. Those that use the XSLT namespace are stylesheets. */
function readSource({ imports, version }: Reader, bytes: Uint8Array, name: SourceName) {
  const { address, label, isImport } = name
  let document: XmlDocument
  try {
    document = parse(bytes, label)
  } catch (problem) {
    if (!isImport || Buffer.from(bytes).includes(XSL)) throw problem
    return { file: sourceFile(address, bytes, false), method: '', names: null }
  }
  try {
    const isStylesheet = !isImport || document.get('//xsl:* | //@xsl:*', { xsl: XSL }) !== null
    if (!isStylesheet) return { file: sourceFile(address, bytes, true), method: '', names: null }
    // An element of the XSLT 1.1 draft that libxslt supports. From XSLT 2.0 on it creates a node (XSLT 2.0,
    // 11.5).
    if (version === '1.0') refuseElement(document, label, [XSL, 'document'])
    const method = check(document, label, address, imports)
    if (version === '1.0')
      return { file: sourceFile(address, bytes, true), method, names: namesOf(document, label) }
    refuseCode(document, label)
    // SaxonJS uses another XML parser, so it gets the serialized form of what was checked.
    const { root } = document
    const checked = '\n'.repeat(root.line - 1) + root.toString({ format: false })
    return { file: sourceFile(address, Buffer.from(checked), true), method, names: null }
  } finally {
    document.dispose()
  }
}

function sourceFile(url: string, bytes: Uint8Array, isXml = true): SourceFile {
  return { url, base64: Buffer.from(bytes).toString('base64'), isXml }
}

function selectionOf({ select, namespaces = {} }: XsltConfig): SourceFile | null {
  for (const prefix of Object.keys(namespaces)) {
    if (!/^[A-Za-z_][\w.-]*$/.test(prefix)) throw new Error(`'${prefix}' is not a namespace prefix`)
  }
  if (select === undefined) return null
  const known = { ...KNOWN_PREFIXES, ...namespaces }
  const prefixes = prefixesOf(select, known)
  checkSelection(select, known)
  const declared = Object.fromEntries(prefixes.map((prefix) => [`xmlns:${prefix}`, known[prefix]!]))
  const copy = element('xsl:copy-of', [], { select: `(${select})[self::*][1]` })
  const template = element('xsl:template', [copy], { match: '/' })
  const sheet = element('xsl:stylesheet', [template], { version: '1.0', 'xmlns:xsl': XSL, ...declared })
  return sourceFile(`${BASE}select`, Buffer.from(buildXml(sheet)))
}

/** Checks that an expression selects elements. That depends only on its text, so any document will do. */
function checkSelection(select: string, names: Readonly<Record<string, string>>): void {
  const { XmlDocument: Document, XmlError } = libxml()
  const document = Document.fromString('<a/>')
  try {
    if (!Array.isArray(document.eval(select, { ...names })))
      throw new Error(`'select' computes a value: use an XPath that selects elements`)
  } catch (problem) {
    if (!(problem instanceof XmlError)) throw problem
    throw new Error(`'select' cannot be compiled: '${select}' is not an XPath 1.0 expression`)
  } finally {
    document.dispose()
  }
}

function bytesOf({ file, inline = '' }: TextSource): Uint8Array {
  if (file === undefined) return Buffer.from(inline)
  const bytes = readFileSync(file)
  if (bytes.length > MAX_FILE_BYTES) throw new Error(`'${file}' is larger than ${MAX_FILE_BYTES} bytes`)
  return new Uint8Array(bytes)
}

function addressOf(name: string, base = BASE): string {
  if (!URL.canParse(name, base)) throw new Error(`'${name}' is not a valid import name`)
  return new URL(name, base).href
}

/** Checks a stylesheet. @returns its output method. */
function check(
  document: XmlDocument,
  label: string,
  address: string,
  imports: ReadonlyMap<string, Uint8Array>,
): string {
  for (const element of WRITING) refuseElement(document, label, element)
  for (const name of attributes(document, '//xsl:import/@href | //xsl:include/@href')) {
    if (imports.has(addressOf(name, address))) continue
    throw new Error(`${label} imports '${name}', which is not in 'imports': add it with its file`)
  }
  const encoding = attributes(document, '//xsl:output/@encoding').find((each) => !/^utf-?8$/i.test(each))
  if (encoding !== undefined)
    throw new Error(`${label} asks for the encoding '${encoding}': results are always UTF-8`)
  return attributes(document, '//xsl:output/@method')[0] ?? ''
}

function refuseElement(
  document: XmlDocument,
  label: string,
  [namespace, name]: readonly [namespace: string, name: string],
): void {
  const path = `//*[local-name() = '${name}' and namespace-uri() = '${namespace}']`
  if (document.get(path) !== null)
    throw new Error(`${label} has an element '${name}', which writes files: remove it`)
}

function attributes(document: XmlDocument, path: string): string[] {
  return document.find(path, { xsl: XSL }).map((attribute) => attribute.content.trim())
}

/**
 * Parses a stylesheet. It comes from the operator and may declare internal entities, but external ones are
 * not read.
 */
function parse(bytes: Uint8Array, label: string): XmlDocument {
  const { XmlDocument: Document, ParseOption } = libxml()
  const { XML_PARSE_NONET, XML_PARSE_NO_XXE, XML_PARSE_NOENT } = ParseOption
  try {
    return Document.fromBuffer(bytes, { option: XML_PARSE_NONET | XML_PARSE_NO_XXE | XML_PARSE_NOENT })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.trim() : String(cause)
    throw new Error(`${label} is not well-formed XML: ${reason}`, { cause })
  }
}

function versionOf(bytes: Uint8Array): StylesheetSource['version'] {
  const document = parse(bytes, 'the stylesheet')
  try {
    const { root } = document
    const isLiteral = root.namespaceUri !== XSL
    if (!isLiteral && root.name !== 'stylesheet' && root.name !== 'transform')
      throw new Error(`the stylesheet begins with 'xsl:${root.name}': it must begin with 'xsl:stylesheet'`)
    return versionNumber(versionAttribute(root, isLiteral))
  } finally {
    document.dispose()
  }
}

function versionAttribute(root: XmlElement, isLiteral: boolean): string {
  const path = isLiteral ? '@xsl:version' : '@version'
  const found = root.get(path, { xsl: XSL })
  if (found === null)
    throw new Error(`the stylesheet has no ${path.slice(1)} at its root element: use 1.0, 2.0 or 3.0`)
  return found.content.trim()
}

function versionNumber(said: string): StylesheetSource['version'] {
  const version = Number(said)
  if (!(version >= 1)) throw new Error(`the stylesheet has version '${said}': use 1.0, 2.0 or 3.0`)
  if (version < 2) return '1.0'
  return version < 3 ? '2.0' : '3.0'
}
