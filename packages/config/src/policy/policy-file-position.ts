import { basename, dirname, join, relative, resolve } from 'node:path'
import type { TSchema } from '@sinclair/typebox'
import { isNode, LineCounter, parseDocument } from 'yaml'
import { pathOfPointer } from '../diagnostic/document-path.js'
import { readTextFile } from '../file/text-file.js'
import { replaceMarked } from '../secrets/mask.js'

/** Position of an error in a file that a policy names. */
export interface FilePosition {
  readonly file: string
  /** Line, starting at 1. */
  readonly line: number
  /** Column, starting at 1. */
  readonly column: number
}

/** Maximum size of a file that policies read, in bytes. */
const MAX_FILE_BYTES = 8 * 1024 * 1024
/**
 * Matches positions in error messages of the engines (V8, yaml, libxml2, libxslt, Saxon, QuickJS, JSONata).
 */
const LINE = /\bline (\d+)(?:,? (?:column|col) (\d+))?/
const POSITION = /\bat (?:position|character) (\d+)/
/** Matches a JSON Pointer (RFC 6901) in an error message of JSON Schema. */
const POINTER = /(?:^|\s)(?:data)?(\/[^\s,;]+)/

/**
 * Returns the position in a policy's file that an error message refers to. Null if it names no position or
 * the file is ambiguous.
 * @param config parameters of the policy with absolute paths
 * @param documentName path of the document; files below its folder are shown relative to it
 */
export function policyFilePosition(
  message: string,
  { schema, config }: { readonly schema: TSchema; readonly config: unknown },
  documentName: string,
): FilePosition | null {
  const file = fileMeant(message, filesOf(schema, config), hasInline(config))
  const text = file === null ? null : textOf(file)
  if (file === null || text === null) return null
  const position = positionIn(text, message)
  return position === null ? null : { ...position, file: nameOf(file, documentName) }
}

function filesOf(schema: TSchema, config: unknown): readonly string[] {
  const files = new Set<string>()
  const replace = (path: unknown): unknown => {
    if (typeof path === 'string') files.add(path)
    return path
  }
  replaceMarked(schema, config, { keyword: 'path', replace })
  return [...files]
}

/** True if the configuration contains inline code, which may be the location of the error. */
function hasInline(config: unknown): boolean {
  if (typeof config !== 'object' || config === null) return false
  return Object.entries(config).some(([key, value]) => key === 'inline' || hasInline(value))
}

/** Returns the only file of the policy, or the one that the message names. */
function fileMeant(message: string, files: readonly string[], hasOtherSource: boolean): string | null {
  if (files.length === 1 && !hasOtherSource) return files[0]!
  const named = files.filter((file) => message.includes(file) || message.includes(`'${basename(file)}'`))
  return named.length === 1 ? named[0]! : null
}

function textOf(file: string): string | null {
  try {
    return readTextFile(file, MAX_FILE_BYTES)
  } catch {
    return null
  }
}

function positionIn(text: string, message: string): Omit<FilePosition, 'file'> | null {
  const line = LINE.exec(message)
  if (line !== null)
    return { line: Number(line[1]), column: Number(line[2] ?? indentAt(text, Number(line[1]))) }
  const position = POSITION.exec(message)
  if (position !== null) return positionOfOffset(text, Number(position[1]))
  if (/ is not JSON: /.test(message)) return positionOfJson(text)
  const pointer = POINTER.exec(message)?.[1]
  return pointer === undefined ? null : positionOfPointer(text, pointer)
}

function indentAt(text: string, line: number): number {
  return /^\s*/.exec(text.split('\n')[line - 1] ?? '')![0].length + 1
}

function positionOfOffset(text: string, offset: number): Omit<FilePosition, 'file'> {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: before.at(-1)!.length + 1 }
}

/**
 * Returns the position of a JSON syntax error. V8 does not always report it, so the text is parsed as YAML,
 * which fails at the same place.
 */
function positionOfJson(text: string): Omit<FilePosition, 'file'> {
  const [mistake] = parseDocument(text, { prettyErrors: false }).errors
  return positionOfOffset(text, mistake?.pos[0] ?? text.trimEnd().length)
}

/**
 * Returns the position of a JSON Pointer in a JSON or YAML file. For a missing part it is the position of its
 * parent.
 */
function positionOfPointer(text: string, pointer: string): Omit<FilePosition, 'file'> | null {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  if (document.errors.length > 0) return null
  const path = pathOfPointer(pointer, document.toJS({ maxAliasCount: 100 }))
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true)
    if (!isNode(node) || node.range === null || node.range === undefined) continue
    const { line, col } = lines.linePos(node.range[0])
    return { line, column: col }
  }
  return null
}

function nameOf(file: string, documentName: string): string {
  const way = relative(resolve(dirname(documentName)), file)
  return way.startsWith('..') ? file : join(dirname(documentName), way)
}
