import {
  OptionalKind,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
} from '@sinclair/typebox'
import { DURATION_PATTERN, RATIO_PATTERN, SIZE_PATTERN } from '@sluice/core'
import type { GrammarName } from '../grammar/grammars.js'

/** The range of a quantity (keyword `bounds`), in the notation of the document. */
export interface Bounds {
  readonly unit: 'duration' | 'size' | 'ratio'
  readonly min: string
  readonly max: string
}

/** How many of some keys may stand together (keyword `choice`). */
export interface Choice {
  readonly keys: readonly string[]
  readonly min: 0 | 1
  readonly max: number
}

interface Options {
  readonly description?: string
  readonly default?: unknown
  readonly choice?: Choice
  readonly expects?: string
  readonly remedy?: string
}

/**
 * A mapping that refuses unknown keys. A key with a default may be left out; its type says that it is there, because
 * the defaults are filled before anything reads the document.
 */
export function object<P extends TProperties>(properties: P, options: Options = {}): TObject<P> {
  const schema: TObject<P> = Type.Object(properties, { additionalProperties: false, ...options })
  const isOptional = (key: string) =>
    OptionalKind in properties[key]! || properties[key]!.default !== undefined
  return Object.assign(schema, { required: Object.keys(properties).filter((key) => !isOptional(key)) })
}

/** A mapping from names of the document's own choice. */
export function mapOf<S extends TSchema>(
  value: S,
  options: { description: string; default?: unknown; propertyNames: TSchema; maxProperties: number },
) {
  return Type.Unsafe<Readonly<Record<string, Static<S>>>>({
    ...options,
    type: 'object',
    additionalProperties: value,
  })
}

/** One of some words. */
export function oneOf<const W extends readonly string[]>(words: W, options: Options) {
  return Type.Unsafe<W[number]>({ type: 'string', enum: words, ...options })
}

/** A duration such as `5s`. */
export function duration(range: { min: string; max: string }, options: Options) {
  return Type.String({
    pattern: DURATION_PATTERN,
    bounds: { unit: 'duration', ...range } satisfies Bounds,
    ...options,
  })
}

/** A size such as `16kb`. */
export function size(range: { min: string; max: string }, options: Options) {
  return Type.String({
    pattern: SIZE_PATTERN,
    bounds: { unit: 'size', ...range } satisfies Bounds,
    ...options,
  })
}

/** A ratio such as `20%`. */
export function ratio(options: Options) {
  return Type.String({
    pattern: RATIO_PATTERN,
    bounds: { unit: 'ratio', min: '0%', max: '100%' } satisfies Bounds,
    ...options,
  })
}

/** A whole number. */
export function integer(minimum: number, maximum: number, options: Options) {
  return Type.Integer({ minimum, maximum, ...options })
}

/** Grammars of texts that the plan is built from: it takes the value of a reference. All others it copies. */
const TAKEN_APART: ReadonlySet<GrammarName> = new Set([
  'address',
  'host-pattern',
  'path-pattern',
  'method',
  'hash-key',
  'request-match',
])

/** A text of a grammar. */
export function text(grammar: GrammarName, options: Options = {}) {
  return Type.String({ grammar, maxLength: 4096, keepsReference: !TAKEN_APART.has(grammar), ...options })
}

/** The path of a file or folder; a relative one begins in the folder of the document (keyword `path`). */
export function filePath(description: string) {
  return Type.String({ minLength: 1, maxLength: 4096, path: true, description })
}

const NAME_PATTERN = '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$'

/** A name that the operator chooses, for an id or a key. */
export function name(description: string) {
  return Type.String({
    pattern: NAME_PATTERN,
    description,
    expects: 'a name of up to 128 letters, digits, dots, hyphens and underscores',
  })
}
