import { METHODS } from 'node:http'
import { errorCodes } from '@sluice/core'
import { TRAFFIC_MAPPING } from '../elasticsearch/mapping.js'

/** Error for a name in a filter that no record can have. `known` lists the valid names. */
export class UnknownNameError extends RangeError {
  readonly word: string
  readonly known: readonly string[]

  constructor(message: string, word: string, known: readonly string[]) {
    super(message)
    this.word = word
    this.known = known
  }
}

const RESULTS = ['success', 'blocked', 'error', 'aborted', 'shed'] as const

/** Valid values of the fields with a fixed set of values. */
const VALUES: Readonly<Record<string, { readonly what: string; readonly known: () => readonly string[] }>> = {
  'http.method': { what: 'a method', known: () => METHODS },
  result: { what: 'a result', known: () => RESULTS },
  'error.code': { what: 'an error code (see docs/reference/errors.md)', known: errorCodes },
}

/** Checks a value for a field in a filter. @throws UnknownNameError if the field never has this value. */
export function checkValue(field: string, value: string): void {
  const values = VALUES[field]
  if (values === undefined || values.known().includes(value)) return
  throw new UnknownNameError(`'${value}' is not ${values.what}`, value, values.known())
}

const NUMBER_TYPES: ReadonlySet<string | undefined> = new Set(['short', 'integer', 'long', 'float'])

/**
 * Checks the name of a field, which is a dotted path, and returns true if its values are numbers.
 * @throws UnknownNameError if records have no such field.
 */
export function isNumberField(path: string): boolean {
  const names = path.split('.')
  let fields: Fields | undefined = TRAFFIC_MAPPING.properties as Fields
  for (const [i, name] of names.entries()) {
    const field: Field | undefined = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field === undefined) break
    if (field.type === 'alias')
      throw new UnknownNameError(`records have no field '${path}'; use ${field.path}`, path, [])
    if (field.type === 'flattened' && i < names.length - 1) return false
    if (field.properties === undefined) {
      if (i === names.length - 1 && field.type !== 'flattened') return NUMBER_TYPES.has(field.type)
      break
    }
    fields = field.properties
  }
  const message = `records have no field '${path}'`
  const members = FIELDS.filter((known) => known.startsWith(`${path}.`))
  if (members.length > 0)
    throw new UnknownNameError(
      `${message} with a value; use one of its fields ${members.join(', ')}`,
      path,
      [],
    )
  throw new UnknownNameError(message, path, FIELDS)
}

interface Field {
  readonly type?: string
  /** Target of an alias. */
  readonly path?: string
  readonly properties?: Fields
}
type Fields = Readonly<Record<string, Field>>

/** Paths of all fields with a value. `NAME` stands for any member of a flattened field. */
const FIELDS: readonly string[] = pathsOf(TRAFFIC_MAPPING.properties as Fields, '')

function pathsOf(fields: Fields, parent: string): string[] {
  return Object.entries(fields).flatMap(([name, { type, properties }]) => {
    const path = `${parent}${name}`
    if (type === 'alias') return []
    if (properties !== undefined) return pathsOf(properties, `${path}.`)
    return type === 'flattened' ? `${path}.NAME` : path
  })
}
