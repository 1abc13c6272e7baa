import { type TLiteral, type TUnion, Type } from '@sinclair/typebox'
import { DURATION_PATTERN, SIZE_PATTERN } from '@sluice/core'

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

/** An option that is true or false. */
export function optionalFlag(fallback: boolean, description: string) {
  return Type.Optional(Type.Boolean({ default: fallback, description }))
}

/** An option that is a size such as `16kb`. */
export function optionalSize(description: string, fallback?: string) {
  return optionalText(SIZE_PATTERN, description, fallback)
}

/** An option that is a duration such as `5s`. */
export function optionalDuration(description: string, fallback?: string) {
  return optionalText(DURATION_PATTERN, description, fallback)
}

function optionalText(pattern: string, description: string, fallback: string | undefined) {
  return Type.Optional(
    Type.String({ ...(fallback === undefined ? {} : { default: fallback }), pattern, description }),
  )
}
