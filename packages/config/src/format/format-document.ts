import { isDeepStrictEqual } from 'node:util'
import { linkAliases, MAX_LENGTH, readYaml } from '@sluice/core/yaml'
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type ParsedNode,
  parseAllDocuments,
  visit,
  YAMLMap,
  YAMLSeq,
} from 'yaml'
import { KeptTexts } from './kept-texts.js'
import { attachComments, joinComments } from './key-comments.js'
import { sortKeys } from './key-order.js'

/** Maximum length of an object or list on one line. */
const LINE_WIDTH = 120
/** A header of a block scalar such as `|2-` (YAML 1.2.2 section 8.1.1.1). */
const INDENTATION_INDICATOR = /[|>][-+]?[1-9]/

/** A formatted text, or the reason why a text cannot be formatted. */
export type Formatted =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly line: number; readonly column: number; readonly message: string }

/**
 * Formats a YAML file: two spaces of indentation, quotes only where needed, and keys of gateway documents in the order of
 * the schema. Comments, anchors, folded strings and line ends are kept. The result has the same value and comments.
 */
export function formatDocument(text: string): Formatted {
  const formatted = formatOnce(text)
  // The library rewrites block scalars with an indicator. Only the second pass keeps their lines.
  return formatted.ok && INDENTATION_INDICATOR.test(text) ? formatOnce(formatted.text) : formatted
}

function formatOnce(text: string): Formatted {
  const isCrlf = /^[^\n]*\r\n/.test(text)
  const source = text.replaceAll('\r\n', '\n')
  const problem = problemOf(source)
  if (problem !== null) return { ok: false, ...problem }
  for (const isSorted of [true, false]) {
    const documents = documentsOf(source)
    const content = contentOf(documents, source)
    const formatted = formattedText(documents, { source, isSorted })
    if (formatted === null || !isDeepStrictEqual(contentOf(documentsOf(formatted), formatted), content))
      continue
    return { ok: true, text: isCrlf ? formatted.replaceAll('\n', '\r\n') : formatted }
  }
  const message = 'the file cannot be formatted without changing its meaning or its comments'
  return { ok: false, line: 1, column: 1, message }
}

function problemOf(source: string): { line: number; column: number; message: string } | null {
  const lines = new LineCounter()
  if (source.length > MAX_LENGTH) return { line: 1, column: 1, message: 'the file is larger than 4 MB' }
  const yaml = readYaml(source)
  const [issue] = yaml.issues
  // Other tools read several documents from one file.
  if (issue !== undefined && !issue.message.includes('more than one document')) {
    const { line, column } = yaml.positionOfOffset(issue.offset)
    return { line, column, message: issue.message }
  }
  const [error] = documentsOf(source, lines).flatMap(({ errors }) => errors)
  if (error === undefined) return null
  const { line, col } = lines.linePos(error.pos[0])
  return { line, column: col, message: error.message }
}

function documentsOf(source: string, lineCounter = new LineCounter()): readonly Document.Parsed[] {
  const documents = parseAllDocuments(source, { schema: 'core', prettyErrors: false, lineCounter })
  return 'empty' in documents ? [] : documents
}

/** Returns the formatted text, or null if sorted keys would separate an alias from its anchor. Changes the documents. */
function formattedText(
  documents: readonly Document.Parsed[],
  { source, isSorted }: { readonly source: string; readonly isSorted: boolean },
): string | null {
  if (documents.length === 0) return source.trim() === '' ? '' : `${source.trim()}\n`
  const kept = new KeptTexts(source)
  if (isJson(source)) {
    if (isSorted) sortKeys(documents[0]!.contents)
    return `${JSON.stringify(documents[0]!.toJS(), null, 2)}\n`
  }
  try {
    const texts = documents.map((document, i) => {
      attachComments(document, source)
      if (isSorted) sortKeys(document.contents)
      kept.take(document)
      setPadding(document)
      if (i > 0) document.directives.docStart = true
      return document.toString({ lineWidth: LINE_WIDTH, nullStr: '' })
    })
    return joinComments(kept.restore(texts.join('')))
  } catch (error) {
    // The library refuses an alias before its anchor.
    if (isSorted) return null
    throw error
  }
}

/** True for JSON, which is also YAML. It stays JSON for programs that only read JSON. */
function isJson(source: string): boolean {
  if (!source.trimStart().startsWith('{')) return false
  try {
    return typeof JSON.parse(source) === 'object'
  } catch {
    return false
  }
}

/** Writes `{ a: 1 }` and `[a]`: the library has only one setting for both. */
function setPadding(document: Document): void {
  visit(document, {
    Map: (_, node) => pad(node, YAMLMap.prototype.toString, ' '),
    Seq: (_, node) => pad(node, YAMLSeq.prototype.toString, ''),
  })
}

function pad<N extends YAMLMap | YAMLSeq>(node: N, print: N['toString'], padding: string): void {
  node.toString = ((context: object | undefined, ...rest: []) =>
    (print as (...args: unknown[]) => string).call(
      node,
      context === undefined ? undefined : { ...context, flowCollectionPadding: padding },
      ...rest,
    )) as N['toString']
}

/** Returns the content that formatting must not change: values, anchors and comments. */
function contentOf(documents: readonly Document.Parsed[], text: string): unknown {
  const errors = documents.flatMap((document) => document.errors.map(({ message }) => message))
  return [errors, documents.map(shapeOfDocument), commentsOf(text)]
}

function shapeOfDocument({ contents, directives }: Document.Parsed): unknown {
  const { targets } = linkAliases(contents as ParsedNode | null)
  const anchors: string[] = []
  visit(contents as Node | null, {
    Node: (_, node) => {
      if ('anchor' in node && node.anchor !== undefined) anchors.push(node.anchor)
    },
  })
  const isAmbiguous = new Set(anchors).size < anchors.length
  // With two anchors of one name, the order decides. It must not change.
  return [shapeOf(contents), targets.size, isAmbiguous ? anchors : null, directives.tags]
}

function shapeOf(node: unknown): unknown {
  if (isAlias(node)) return { alias: node.source }
  const { tag, anchor } = (node ?? {}) as { readonly tag?: string; readonly anchor?: string }
  if (isMap(node)) {
    const members = node.items.map(
      ({ key, value }) => [JSON.stringify(shapeOf(key)), shapeOf(value)] as const,
    )
    return { tag, anchor, members: new Map(members) }
  }
  if (isSeq(node)) return { tag, anchor, items: node.items.map(shapeOf) }
  // Large numbers lose digits.
  const isLarge = isScalar(node) && Math.abs(Number(node.value)) > Number.MAX_SAFE_INTEGER
  return { tag, anchor, value: isScalar(node) ? (isLarge ? node.source : node.value) : null }
}

function commentsOf(text: string): string[] {
  return [...new Lexer().lex(text)]
    .filter((lexeme) => lexeme.startsWith('#'))
    .map((lexeme) => lexeme.trimEnd())
    .sort()
}
