/** Schema of a text. */
export const text = { type: 'string' }
/** Schema of a number of things. */
export const count = { type: 'integer', minimum: 0 }
/** Schema of a digest of a configuration. */
export const digest = { type: ['string', 'null'], pattern: '^[0-9a-f]{64}$' }
/** Schema of an instant. */
export const time = { type: 'string', format: 'date-time' }
/** Schema of the source of a document. */
export const origin = { enum: ['file', 'api', 'last-good', 'control'] }
/** Returns the schema of a list. */
export const listOf = (items: object) => ({ type: 'array', items })
/** Returns a reference to a schema of the description. */
export const ref = (schema: string) => ({ $ref: `#/components/schemas/${schema}` })

/** Returns the schema of an object with required and optional members. */
export const object = (
  properties: Readonly<Record<string, object>>,
  optional: Readonly<Record<string, object>> = {},
) => ({ type: 'object', required: Object.keys(properties), properties: { ...properties, ...optional } })

/** Schema of numbers by name. */
export const numbers = { type: 'object', additionalProperties: { type: 'number' } }

/** Schema of a text or null. */
export const textOrNull = { type: ['string', 'null'] }
