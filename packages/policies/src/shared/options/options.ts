import {
  type ArrayOptions,
  type IntegerOptions,
  type ObjectOptions,
  type StringOptions,
  type TArray,
  type TInteger,
  type TLiteral,
  type TObject,
  type TProperties,
  type TSchema,
  type TString,
  type TUnion,
  Type,
} from '@sinclair/typebox'
import { DURATION_PATTERN, SIZE_PATTERN } from '@sluice/core'

/** Schema of a mapping without unknown keys. */
export function closed<P extends TProperties>(
  description: string,
  properties: P,
  options: ObjectOptions = {},
): TObject<P> {
  return Type.Object(properties, { ...options, additionalProperties: false, description })
}

/** Schema of an optional mapping without unknown keys. */
export function optionalClosed<P extends TProperties>(description: string, properties: P) {
  return Type.Optional(closed(description, properties))
}

/** Schema of an optional mapping from names to values. */
export function optionalRecord<T extends TSchema>(
  value: T,
  description: string,
  options: ObjectOptions = {},
) {
  return Type.Optional(Type.Record(Type.String(), value, { ...options, description }))
}

/** Schema of an enumeration. */
export function oneOf<const W extends string | number>(
  words: readonly W[],
  description?: string,
  fallback?: NoInfer<W>,
): TUnion<TLiteral<W>[]> {
  return Type.Union(
    words.map((word) => Type.Literal(word)),
    {
      ...(fallback !== undefined && { default: fallback }),
      ...(description !== undefined && { description }),
    },
  )
}

/** Schema of an optional enumeration. */
export function optionalOneOf<const W extends string | number>(
  words: readonly W[],
  description: string,
  fallback?: NoInfer<W>,
) {
  return Type.Optional(oneOf(words, description, fallback))
}

/** Schema of an optional path of a file that is read when the document is loaded. */
export function optionalFile(description: string) {
  return optionalString(description, { minLength: 1, maxLength: 4096, path: true })
}

/** Schema of an optional text. */
export function optionalText(maxLength: number, description: string) {
  return Type.Optional(Type.String({ minLength: 1, maxLength, description }))
}

/** Schema of an optional boolean. */
export function optionalFlag(fallback: boolean, description: string) {
  return Type.Optional(Type.Boolean({ default: fallback, description }))
}

/** Schema of an optional size such as `16kb`. */
export function optionalSize(description: string, fallback?: string) {
  return optionalMatch(SIZE_PATTERN, description, fallback)
}

/** Schema of an optional duration such as `5s`. */
export function optionalDuration(description: string, fallback?: string) {
  return optionalMatch(DURATION_PATTERN, description, fallback)
}

function optionalMatch(pattern: string, description: string, fallback: string | undefined) {
  return Type.Optional(
    Type.String({ ...(fallback === undefined ? {} : { default: fallback }), pattern, description }),
  )
}

/** Schema of a text. */
export function string(description: string, options: StringOptions = {}): TString {
  return Type.String({ ...options, description })
}

/** Schema of an optional text. */
export function optionalString(description: string, options: StringOptions = {}) {
  return Type.Optional(string(description, options))
}

/** Schema of an integer. */
export function integer(description: string, options: IntegerOptions = {}): TInteger {
  return Type.Integer({ ...options, description })
}

/** Schema of an optional integer. */
export function optionalInteger(description: string, options: IntegerOptions = {}) {
  return Type.Optional(integer(description, options))
}

/** Schema of a list. */
export function list<T extends TSchema>(item: T, description: string, options: ArrayOptions = {}): TArray<T> {
  return Type.Array(item, { ...options, description })
}

/** Schema of an optional list. */
export function optionalList<T extends TSchema>(item: T, description: string, options: ArrayOptions = {}) {
  return Type.Optional(list(item, description, options))
}

/** Schema of all options of a policy. @param paragraphs description of the policy in the reference. */
export function policyOptions<P extends TProperties>(
  properties: P,
  paragraphs: readonly string[],
  options: ObjectOptions = {},
): TObject<P> {
  return Type.Object(properties, {
    additionalProperties: false,
    ...options,
    description: paragraphs.join('\n\n'),
  })
}
