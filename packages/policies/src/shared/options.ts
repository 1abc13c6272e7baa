import { type TLiteral, type TObject, type TProperties, type TUnion, Type } from '@sinclair/typebox'
import { DURATION_PATTERN, SIZE_PATTERN } from '@sluice/core'

/** A mapping that refuses unknown keys. */
export function closed<P extends TProperties>(description: string, properties: P): TObject<P> {
  return Type.Object(properties, { additionalProperties: false, description })
}

/** One of some words. */
export function oneOf<const W extends string>(
  words: readonly W[],
  options: { readonly description?: string; readonly default?: NoInfer<W> } = {},
): TUnion<TLiteral<W>[]> {
  return Type.Union(
    words.map((word) => Type.Literal(word)),
    options,
  )
}

/** An option that is one of some words. */
export function optionalOneOf<const W extends string>(
  words: readonly W[],
  description: string,
  fallback?: NoInfer<W>,
) {
  return Type.Optional(
    oneOf(words, { ...(fallback === undefined ? {} : { default: fallback }), description }),
  )
}

/** An option that is a text. */
export function optionalText(maxLength: number, description: string) {
  return Type.Optional(Type.String({ minLength: 1, maxLength, description }))
}

/** An option that is true or false. */
export function optionalFlag(fallback: boolean, description: string) {
  return Type.Optional(Type.Boolean({ default: fallback, description }))
}

/** An option that is a size such as `16kb`. */
export function optionalSize(description: string, fallback?: string) {
  return optionalMatch(SIZE_PATTERN, description, fallback)
}

/** An option that is a duration such as `5s`. */
export function optionalDuration(description: string, fallback?: string) {
  return optionalMatch(DURATION_PATTERN, description, fallback)
}

function optionalMatch(pattern: string, description: string, fallback: string | undefined) {
  return Type.Optional(
    Type.String({ ...(fallback === undefined ? {} : { default: fallback }), pattern, description }),
  )
}
