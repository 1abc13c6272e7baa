import { Composer, type CST, type Document, Lexer, LineCounter, type ParsedNode, Parser } from 'yaml'
import type { DocumentPath } from '../document-path.js'
import { linkAliases } from './alias.js'
import { plainValue } from './plain-value.js'
import { type Position, Positions } from './positions.js'
import { breakingFlaw, isolatedFlaws, type SourceFlaw } from './source-flaw.js'

/** Longest document, in UTF-16 units: about 50,000 routes. */
export const MAX_LENGTH = 4 * 1024 * 1024
/** Deepest nesting. The composer is recursive, and a full stack can end the process in a way that cannot be caught. */
const MAX_DEPTH = 100

/** A document as plain data, and where each part of it stands in the text. */
export interface YamlSource {
  readonly value: unknown
  /** What is wrong with the text itself. */
  readonly flaws: readonly SourceFlaw[]
  /** Where the text stops being YAML: what comes after is a guess. Null when all of it is. */
  readonly brokenFrom: number | null
  /** The position of a value or of its key; of what is around it when there is no such thing. */
  positionOf(path: DocumentPath, at: 'key' | 'value'): Position
  positionOfOffset(offset: number): Position
}

/** Reads YAML 1.2 (and so JSON) with the core schema. Never throws. */
export function readYaml(text: string): YamlSource {
  const lines = new LineCounter()
  const { root, isolated, breaking } = compose(text, lines)
  const links = linkAliases(root)
  const positions = new Positions(root, links.targets, { lines, text })
  const plain = plainValue(root, links.targets)
  return {
    value: plain.value,
    flaws: [...(breaking === null ? [] : [breaking]), ...isolated, ...links.flaws, ...plain.flaws],
    brokenFrom: breaking?.offset ?? null,
    positionOf: (path, at) => positions.of(path, at),
    positionOfOffset: (offset) => positions.ofOffset(offset),
  }
}

interface Composed {
  readonly root: ParsedNode | null
  readonly isolated: readonly SourceFlaw[]
  readonly breaking: SourceFlaw | null
}

function compose(text: string, lines: LineCounter): Composed {
  if (text.length > MAX_LENGTH) return refused('the document is larger than 4 MB', 'split it')
  const tokens = tokensOf(text, lines)
  if (tokens === null) return refused(`the document is nested deeper than ${MAX_DEPTH} levels`, 'flatten it')
  const [document, second] = documentsOf(tokens, text.length)
  const errors = [...(document?.errors ?? []), ...(document?.warnings ?? [])]
  return {
    root: (document?.contents ?? null) as ParsedNode | null,
    isolated: isolatedFlaws(errors),
    breaking: breakingFlaw(errors, text) ?? (second === undefined ? null : surplus(second)),
  }
}

/** The concrete syntax, or null when it is nested too deeply. */
function tokensOf(text: string, lines: LineCounter): CST.Token[] | null {
  const parser = new Parser(lines.addNewLine)
  const tokens: CST.Token[] = []
  lines.addNewLine(0)
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token)
    if (parser.stack.length > MAX_DEPTH) return null
  }
  for (const token of parser.end()) tokens.push(token)
  return tokens
}

/** Without stack traces: garbage brings errors by the ten thousand, and a trace of each takes a second per thousand. */
function documentsOf(tokens: readonly CST.Token[], length: number): Document.Parsed[] {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 0
  try {
    const composer = new Composer({ schema: 'core', uniqueKeys: false, prettyErrors: false })
    return [...composer.compose(tokens, true, length)]
  } finally {
    Error.stackTraceLimit = limit
  }
}

function surplus(document: Document.Parsed): SourceFlaw {
  return {
    offset: document.range[0],
    message: 'the file holds more than one document',
    remedy: "keep one, and remove the '---' between them",
  }
}

function refused(message: string, remedy: string): Composed {
  return { root: null, isolated: [], breaking: { offset: 0, message, remedy } }
}
