import type { CST, Document, LineCounter, ParsedNode } from 'yaml'
import { linkAliases } from './alias.js'
import { yamlLibrary } from './library.js'
import { plainValue } from './plain-value.js'
import { type Position, Positions, type YamlPath } from './positions.js'
import { breakingIssue, isolatedIssues, type SourceIssue } from './source-issue.js'

/** Maximum length of a document in UTF-16 units, enough for about 50,000 routes. */
export const MAX_LENGTH = 4 * 1024 * 1024
/**
 * Maximum nesting depth. The composer is recursive, and a stack overflow can end the process in a way that
 * cannot be caught.
 */
const MAX_DEPTH = 100

/** A document as plain data, with the positions of its parts in the text. */
export interface YamlSource {
  readonly value: unknown
  /** Syntax errors in the text. */
  readonly issues: readonly SourceIssue[]
  /**
   * Offset of the first error that breaks the structure; anything after it is a guess. Null if there is none.
   */
  readonly brokenFrom: number | null
  /** Returns the position of a value or of its key. For a missing value it is the position of its parent. */
  positionOf(path: YamlPath, at: 'key' | 'value'): Position
  positionOfOffset(offset: number): Position
}

/**
 * Parses YAML 1.2 (and so JSON) with the core schema. Never throws.
 * @param maxLength maximum length in UTF-16 units
 */
export function readYaml(text: string, maxLength = MAX_LENGTH): YamlSource {
  const lines = new (yamlLibrary().LineCounter)()
  const { root, isolated, breaking } = compose(text, lines, maxLength)
  const links = linkAliases(root)
  const plain = plainValue(root, links.targets)
  const positions = new Positions(root, { aliases: links.targets, merged: plain.merged }, { lines, text })
  // After an error that breaks the structure, the parser only guesses.
  const end = breaking?.offset ?? Number.POSITIVE_INFINITY
  const others = [...isolated, ...links.issues, ...plain.issues].filter(({ offset }) => offset < end)
  return {
    value: plain.value,
    issues: [...(breaking === null ? [] : [breaking]), ...others],
    brokenFrom: breaking?.offset ?? null,
    positionOf: (path, at) => positions.of(path, at),
    positionOfOffset: (offset) => positions.ofOffset(offset),
  }
}

interface Composed {
  readonly root: ParsedNode | null
  readonly isolated: readonly SourceIssue[]
  readonly breaking: SourceIssue | null
}

function compose(text: string, lines: LineCounter, maxLength: number): Composed {
  if (text.length > maxLength)
    return refused(`the document is larger than ${maxLength / 1024 ** 2} MB`, 'split it')
  const tokens = tokensOf(text, lines)
  if (tokens === null) return refused(`the document is nested deeper than ${MAX_DEPTH} levels`, 'flatten it')
  const [document, second] = documentsOf(tokens, text.length)
  const errors = [...(document?.errors ?? []), ...(document?.warnings ?? [])]
  return {
    root: (document?.contents ?? null) as ParsedNode | null,
    isolated: isolatedIssues(errors),
    breaking: breakingIssue(errors, text) ?? (second === undefined ? null : secondDocument(second)),
  }
}

/** Returns the tokens, or null if they are nested too deeply. */
function tokensOf(text: string, lines: LineCounter): CST.Token[] | null {
  const parser = new (yamlLibrary().Parser)(lines.addNewLine)
  const tokens: CST.Token[] = []
  lines.addNewLine(0)
  for (const lexeme of new (yamlLibrary().Lexer)().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token)
    if (parser.stack.length > MAX_DEPTH) return null
  }
  for (const token of parser.end()) tokens.push(token)
  return tokens
}

/**
 * Composes documents with stack traces disabled: invalid input causes tens of thousands of errors, and a
 * thousand traces take a second.
 */
function documentsOf(tokens: readonly CST.Token[], length: number): Document.Parsed[] {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  try {
    const composer = new (yamlLibrary().Composer)({ schema: 'core', uniqueKeys: false, prettyErrors: false })
    return [...composer.compose(tokens, true, length)]
  } finally {
    Error.stackTraceLimit = limit
  }
}

function secondDocument(document: Document.Parsed): SourceIssue {
  return {
    offset: document.range[0],
    message: 'the file contains more than one document',
    remedy: "keep one, and remove the '---' between them",
  }
}

function refused(message: string, remedy: string): Composed {
  return { root: null, isolated: [], breaking: { offset: 0, message, remedy } }
}
