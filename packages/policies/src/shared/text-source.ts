import { readFileSync } from 'node:fs'
import { type TSchema, Type } from '@sinclair/typebox'
import { parseDocument } from 'yaml'
import { optionalFile, optionalString, policyOptions } from './options.js'

/** Largest file that is read, in bytes. */
const MAX_FILE_BYTES = 8 * 1024 * 1024
/** Most locations where a YAML anchor may be repeated: a few lines could stand for gigabytes. */
const MAX_ALIASES = 100

/** Where a structured text stands: in a file, or in the document of the gateway. */
export interface ValueSource {
  readonly file?: string
  readonly inline?: unknown
}

/** The schema of a value that stands in a JSON or YAML file, or in the document. @param what such as `a JSON schema` */
export function valueSource(what: string) {
  const inline = Type.Optional(Type.Unknown({ description: `${capitalized(what)} as it is.` }))
  return source(what, 'A JSON or YAML file, read when the document is loaded.', inline)
}

/** Where a plain text stands: in a file, or in the document of the gateway. */
export interface TextSource {
  readonly file?: string
  readonly inline?: string
}

/** The schema of a text that stands in a file or in the document. @param what such as `the template` */
export function textSource(what: string) {
  const inline = optionalString(`${capitalized(what)} itself.`, { maxLength: 1_048_576 })
  return source(what, 'A file, read when the document is loaded.', inline)
}

function source<T extends TSchema>(what: string, file: string, inline: T) {
  return policyOptions(
    { file: optionalFile(file), inline },
    [`Where ${what} stands: \`file\` or \`inline\`.`],
    { minProperties: 1, maxProperties: 1 },
  )
}

function capitalized(text: string): string {
  return text[0]!.toUpperCase() + text.slice(1)
}

/** The text that a source holds. @throws Error when its file cannot be read. */
export function textOfSource({ file, inline }: TextSource): string {
  return file === undefined ? (inline ?? '') : readText(file)
}

/** The value that a source holds. @throws Error when its file cannot be read or is neither JSON nor YAML. */
export function valueOfSource({ file, inline }: ValueSource): unknown {
  return file === undefined ? inline : parseValue(readText(file), file)
}

/** A source whose file has been read: the same text for all that use it. */
export interface ReadSource {
  readonly text: string
  /** The file, for messages. */
  readonly name: string
}

/** Reads the file of a source; a value of the document becomes JSON. @throws Error when its file cannot be read. */
export function readSource({ file, inline }: ValueSource): ReadSource {
  return file === undefined
    ? { text: JSON.stringify(inline), name: 'the document' }
    : { text: readText(file), name: file }
}

/** The text of a file that the document names. @throws Error when it cannot be read or is too large. */
export function readText(file: string): string {
  const text = read(file)
  if (text.length > MAX_FILE_BYTES) throw new Error(`${file} is larger than ${MAX_FILE_BYTES} bytes`)
  return text
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${file} cannot be read (${reason}); check the path`, { cause })
  }
}

/** The value of a text. @throws Error when it is neither JSON nor YAML. */
export function parseValue(text: string, file: string): unknown {
  if (text.trimStart().startsWith('{')) return parseJson(text, file)
  const document = parseDocument(text, { prettyErrors: true })
  const [mistake] = document.errors
  if (mistake !== undefined) throw new Error(`${file} is not YAML: ${mistake.message.split('\n')[0]}`)
  return document.toJS({ maxAliasCount: MAX_ALIASES })
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`${file} is not JSON: ${(cause as Error).message}`, { cause })
  }
}
