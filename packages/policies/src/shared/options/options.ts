import {
  type ArrayOptions,
  type IntegerOptions,
  type ObjectOptions,
  type SchemaOptions,
  type StringOptions,
  type TArray,
  type TBoolean,
  type TInteger,
  type TLiteral,
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  type TString,
  type TUnion,
  Type,
} from '@sinclair/typebox'
import { DURATION_PATTERN, SIZE_PATTERN } from '@sluice/core'

/** Schema of an object without unknown keys. */
export function closed<P extends TProperties>(
  description: string,
  properties: P,
  options: ObjectOptions = {},
): TObject<P> {
  return Type.Object(properties, { ...options, additionalProperties: false, description })
}

/** Schema of an optional mapping without unknown keys. */
export function optionalClosed<P extends TProperties>(
  description: string,
  properties: P,
  options: ObjectOptions = {},
) {
  return Type.Optional(closed(description, properties, options))
}

/** Schema of an object of optional keys, which is always present when the policy is compiled. */
export function section<P extends TProperties>(
  description: string,
  properties: P,
  options: ObjectOptions = {},
) {
  // biome-ignore lint/complexity/noBannedTypes: the default is an empty mapping
  return defaulted<TObject<P>, {}>(closed(description, properties, { ...options, default: {} }))
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
  options: SchemaOptions = {},
): TUnion<TLiteral<W>[]> {
  return Type.Union(
    words.map((word) => Type.Literal(word)),
    {
      ...options,
      ...(fallback !== undefined && { default: fallback }),
      ...(description !== undefined && { description }),
    },
  )
}

/** An optional value with a default, which is always present when the policy is compiled. */
export type TDefaulted<T extends TSchema, D> = TOptional<T> & { default: D }

type Defaulted<T extends TSchema, D> = [D] extends [undefined] ? TOptional<T> : TDefaulted<T, D>

function defaulted<T extends TSchema, D>(schema: T): Defaulted<T, D> {
  return Type.Optional(schema) as Defaulted<T, D>
}

/** Schema of an optional enumeration. */
export function optionalOneOf<const W extends string | number, D extends NoInfer<W> | undefined = undefined>(
  words: readonly W[],
  description: string,
  fallback?: D,
  options: SchemaOptions = {},
): Defaulted<TUnion<TLiteral<W>[]>, D> {
  return defaulted(oneOf(words, description, fallback, options))
}

/** Schema of an optional path of a file that is read when the document is loaded. */
export function optionalFile(description: string) {
  return optionalString(description, { minLength: 1, maxLength: 4096, path: true })
}

/** Schema of a text that is not empty. */
export function text(maxLength: number, description: string, options: StringOptions = {}): TString {
  return Type.String({ minLength: 1, maxLength, ...options, description })
}

/** Schema of an optional text that is not empty. */
export function optionalText<O extends StringOptions>(maxLength: number, description: string, options?: O) {
  return defaulted<TString, DefaultOf<O>>(text(maxLength, description, options))
}

/** Schema of an optional boolean. */
export function optionalFlag(fallback: boolean, description: string) {
  return defaulted<TBoolean, boolean>(Type.Boolean({ default: fallback, description }))
}

/** Schema of an optional size such as `16kb`. */
export function optionalSize<D extends string | undefined = undefined>(description: string, fallback?: D) {
  return optionalMatch(SIZE_PATTERN, description, fallback)
}

/** Schema of an optional duration such as `5s`. */
export function optionalDuration<D extends string | undefined = undefined>(
  description: string,
  fallback?: D,
) {
  return optionalMatch(DURATION_PATTERN, description, fallback)
}

function optionalMatch<D extends string | undefined>(pattern: string, description: string, fallback: D) {
  const options = { ...(fallback === undefined ? {} : { default: fallback }), pattern, description }
  return defaulted<TString, D>(Type.String(options))
}

/** Schema of a text. */
export function string(description: string, options: StringOptions = {}): TString {
  return Type.String({ ...options, description })
}

/** Schema of an optional text. */
export function optionalString<O extends StringOptions>(description: string, options?: O) {
  return defaulted<TString, DefaultOf<O>>(string(description, options))
}

/** Type of the default in the options of a schema, or undefined. */
type DefaultOf<O> = O extends { readonly default: infer D } ? D : undefined

/** Schema of an integer. */
export function integer(description: string, options: IntegerOptions = {}): TInteger {
  return Type.Integer({ ...options, description })
}

/** Schema of an optional integer. */
export function optionalInteger<O extends IntegerOptions>(description: string, options?: O) {
  return defaulted<TInteger, DefaultOf<O>>(integer(description, options))
}

/** Schema of a list. */
export function list<T extends TSchema>(item: T, description: string, options: ArrayOptions = {}): TArray<T> {
  return Type.Array(item, { ...options, description })
}

/** Schema of an optional list. */
export function optionalList<T extends TSchema, O extends ArrayOptions>(
  item: T,
  description: string,
  options?: O,
) {
  return defaulted<TArray<T>, DefaultOf<O>>(list(item, description, options))
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
