import type { Violation } from '../../engines/json-schema/violations.js'
import type { TextValue } from './parameter.js'
import type { Direction } from './rewrite.js'
import type { SchemaSource } from './schemas.js'
import { asNeighbour, asText, asTyped, type Convert, isRounded } from './shape.js'
import { EMPTY, type TextReading, UnreadableText } from './text-value.js'

/** Finds and converts the value of a name. Returns undefined if it is missing. @throws UnreadableText */
type Find = (of: TextValue, how: Omit<TextReading, 'decode'>) => unknown

/** Checks all values of one location of a message, such as the query. */
export type TextCheck = (find: Find) => Violation[]

/** Compiles the check of one location. @param location prefix of names in violations, such as `query`. */
export function compileTextCheck(
  values: readonly TextValue[],
  location: string,
  { schemas, direction }: { readonly schemas: SchemaSource; readonly direction: Direction },
): TextCheck {
  const checks = values.map((of) => {
    const schema = of.pointer === null ? null : schemas.at(of.pointer, direction)
    const missing: Violation[] = of.isRequired ? [`${location} must have required property '${of.name}'`] : []
    return (find: Find): Violation[] =>
      violationsAsText((convert) => {
        const value = find(of, { convert, json: (bytes) => schemas.parse(bytes) })
        if (value === undefined) return missing
        return value === EMPTY ? [] : schemas.check(schema, value, `${location}/${of.name}`)
      }, `${location}/${of.name}`)
  })
  return (find) => checks.flatMap((check) => check(find))
}

/**
 * Returns the violations of a value received as text. If the schema also allows strings, text that looks like
 * a number is tried as both.
 */
export function violationsAsText(check: (convert: Convert) => Violation[], location: string): Violation[] {
  try {
    let isExact = true
    const violations = check((text, types) => {
      const value = asTyped(text, types)
      isExact &&= !isRounded(text, value)
      return value
    })
    if (violations.length === 0) return isExact ? violations : check(asNeighbour)
    return check(asText).length === 0 ? [] : violations
  } catch (error) {
    if (error instanceof UnreadableText) return [`${location} ${error.message}`]
    throw error
  }
}
