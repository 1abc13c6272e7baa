import type { Violation } from '../../engines/json-schema/violations.js'
import type { TextValue } from './parameter.js'
import type { Direction } from './rewrite.js'
import type { Schemas } from './schemas.js'
import { UnreadableText } from './text-value.js'

/** How the value of one name is found; undefined: there is none. @throws UnreadableText */
type Find = (of: TextValue) => unknown

/** Checks all values of one location of a message, such as the query. */
export type TextCheck = (find: Find) => Violation[]

/**
 * @param location what violations say before the name, such as `query`.
 * @throws Error for a schema that cannot be compiled.
 */
export function compileTextCheck(
  values: readonly TextValue[],
  location: string,
  { schemas, direction }: { readonly schemas: Schemas; readonly direction: Direction },
): TextCheck {
  const check = schemas.compileTexts(
    {
      type: 'object',
      properties: Object.fromEntries(values.map(({ name, schema }) => [name, schema])),
      required: values.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    },
    direction,
    location,
  )
  return (find) => {
    const unreadable: Violation[] = []
    const found: Record<string, unknown> = Object.create(null)
    for (const value of values) {
      try {
        const text = find(value)
        if (text !== undefined) found[value.name] = text
      } catch (error) {
        if (!(error instanceof UnreadableText)) throw error
        unreadable.push(`${location}/${value.name} ${error.message}`)
      }
    }
    return unreadable.length > 0 ? unreadable : check(found)
  }
}
