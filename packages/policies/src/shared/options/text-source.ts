import { readFileSync } from 'node:fs'
import { type TSchema, Type } from '@sinclair/typebox'
import { reasonOf } from '@sluice/core'
import { readYaml } from '@sluice/core/yaml'
import { optionalFile, optionalString, policyOptions, string } from './options.js'

/** Maximum file size in bytes. */
const MAX_FILE_BYTES = 8 * 1024 * 1024

/** Source of a structured value: a file, or the gateway's document. */
export interface ValueSource {
  readonly file?: string
  readonly inline?: unknown
}

/**
 * Returns the schema of a value in a JSON or YAML file or in the document.
 * @param what noun phrase such as `a JSON schema`
 */
export function valueSource(what: string) {
  const inline = Type.Optional(Type.Unknown({ description: `${capitalized(what)}, inline in the document.` }))
  return source(what, 'JSON or YAML file, read when the document is loaded.', inline)
}

/** Source of a text: a file, or the gateway's document. */
export interface TextSource {
  readonly file?: string
  readonly inline?: string
}

/**
 * Returns the schema of a text in a file or in the document.
 * @param what noun phrase such as `the template`
 * @param maxLength maximum number of characters of an inline text
 */
export function textSource(what: string, maxLength = 1_048_576) {
  const inline = optionalString(`${capitalized(what)}, inline in the document.`, { minLength: 1, maxLength })
  return source(what, 'File, read when the document is loaded.', inline)
}

function source<T extends TSchema>(what: string, file: string, inline: T) {
  const description = `Source of ${what}: \`file\` or \`inline\`. A plain string is the path of a file.`
  return policyOptions({ file: optionalFile(file), inline }, [description], {
    minProperties: 1,
    maxProperties: 1,
    shorthand: 'file',
  })
}

function capitalized(text: string): string {
  return text[0]!.toUpperCase() + text.slice(1)
}

/** Returns the schema of a file that is read again when it changes. @param what noun phrase such as `the consumers` */
export function fileSource(what: string) {
  const description = `Source of ${what}: \`file\`. A plain string is the path of the file.`
  const file = string('File. It is reloaded when it changes.', { minLength: 1, maxLength: 4096, path: true })
  return policyOptions({ file }, [description], { shorthand: 'file' })
}

/** Returns the text of a source. @throws Error if its file cannot be read. */
export function textOfSource({ file, inline }: TextSource): string {
  return file === undefined ? (inline ?? '') : readText(file)
}

/** Returns the value of a source. @throws Error if its file cannot be read or is neither JSON nor YAML. */
export function valueOfSource({ file, inline }: ValueSource): unknown {
  return file === undefined ? inline : parseValue(readText(file), file)
}

/** A source after reading its file. */
export interface ReadSource {
  readonly text: string
  /** Name of the file, for messages. */
  readonly name: string
}

/** Reads the file of a source, or converts an inline value to JSON. @throws Error if the file cannot be read. */
export function readSource({ file, inline }: ValueSource): ReadSource {
  return file === undefined
    ? { text: JSON.stringify(inline), name: 'the document' }
    : { text: readText(file), name: file }
}

/** Reads a configured file. @throws Error if it cannot be read or is too large. */
export function readText(file: string): string {
  const text = read(file)
  if (text.length > MAX_FILE_BYTES) throw new Error(`${file} is larger than ${MAX_FILE_BYTES} bytes`)
  return text
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const reason = reasonOf(cause)
    throw new Error(`${file} cannot be read (${reason}); check the path`, { cause })
  }
}

/** Parses JSON or YAML. @throws Error if the text is neither. */
export function parseValue(text: string, file: string): unknown {
  if (text.trimStart().startsWith('{')) return parseJson(text, file)
  const source = readYaml(text, MAX_FILE_BYTES)
  const [issue] = source.issues
  if (issue === undefined) return source.value
  const { line, column } = source.positionOfOffset(issue.offset)
  throw new Error(`${file} line ${line}, column ${column}: ${issue.message}; ${issue.remedy}`)
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`${file} is not JSON: ${(cause as Error).message}`, { cause })
  }
}
