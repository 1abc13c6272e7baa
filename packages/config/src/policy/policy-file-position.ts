import { basename, dirname, join, relative, resolve } from 'node:path'
import type { TSchema } from '@sinclair/typebox'
import { readYaml } from '@sluice/core/yaml'
import { pathOfPointer, valueAt } from '../diagnostic/document-path.js'
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
/** Matches a reference that leads nowhere. */
export const REFERENCE = /(?:reference|refers to) '?([^\s'"<>]*[#/][^\s'"<>]*)'?/
/** Matches a JSON Pointer (RFC 6901) in an error message of JSON Schema. */
export const POINTER = /(?:^|\s)(?:data)?(\/[^\s,;]+)/

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
  const files = filesOf(schema, config)
  const file = fileOfReference(message, files) ?? fileMeant(message, files, hasInline(config))
  const text = file === null ? null : textOf(file)
  if (file === null || text === null) return null
  const position = positionIn(text, message)
  return position === null ? null : { ...position, file: nameOf(file, documentName) }
}

/** Leaves out the position that a diagnostic has anyway, and splits the message from its remedy. */
export function withoutPosition(message: string): { readonly message: string; readonly remedy: string } {
  const [, policy = '', mistake] =
    /^(policy '[^']*' \([^)]*\): )?.*? line \d+, column \d+: (.*)$/s.exec(message) ?? []
  if (mistake === undefined) return { message, remedy: 'fix the file' }
  const [text, ...remedy] = mistake.split('; ')
  return { message: `${policy}${text}`, remedy: remedy.join('; ') || 'fix the file' }
}

/** Returns the only file with a reference that the message is about, or null. */
function fileOfReference(message: string, files: readonly string[]): string | null {
  const reference = REFERENCE.exec(message)?.[1]
  if (reference === undefined) return null
  const holding = files.filter((file) => referenceOffset(textOf(file) ?? '', reference) >= 0)
  return holding.length === 1 ? holding[0]! : null
}

/** Returns the offset of a reference behind `$ref`, or -1. */
function referenceOffset(text: string, reference: string): number {
  for (let at = text.indexOf(reference); at >= 0; at = text.indexOf(reference, at + 1)) {
    const isWhole = !/[\w/~%.-]/.test(text[at + reference.length] ?? '')
    if (isWhole && /\$ref["']?\s*:\s*["']?$/.test(text.slice(Math.max(0, at - 64), at))) return at
  }
  return -1
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
  const reference = REFERENCE.exec(message)?.[1]
  const offset = reference === undefined ? -1 : referenceOffset(text, reference)
  if (offset >= 0) return positionOfOffset(text, offset)
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
  const { issues } = readYaml(text, MAX_FILE_BYTES)
  return positionOfOffset(text, issues[0]?.offset ?? text.trimEnd().length)
}

/**
 * Returns the position of a JSON Pointer in a JSON or YAML file. For a missing part it is the position of its
 * parent.
 */
function positionOfPointer(text: string, pointer: string): Omit<FilePosition, 'file'> | null {
  const source = readYaml(text, MAX_FILE_BYTES)
  const path = pathOfPointer(pointer, source.value)
  if (source.issues.length > 0 || valueAt(source.value, path.slice(0, 1)) === undefined) return null
  const { line, column } = source.positionOf(path, 'value')
  return { line, column }
}

function nameOf(file: string, documentName: string): string {
  const way = relative(resolve(dirname(documentName)), file)
  return way.startsWith('..') ? file : join(dirname(documentName), way)
}
