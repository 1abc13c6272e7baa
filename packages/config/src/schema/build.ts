import {
  OptionalKind,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
} from '@sinclair/typebox'
import { type DeprecatedKeys, DURATION_PATTERN, RATIO_PATTERN, SIZE_PATTERN } from '@sluice/core'
import type { GrammarName } from '../grammar/grammars.js'

/** Range of a quantity (keyword `bounds`), in the notation of the document. */
export interface Bounds {
  readonly unit: 'duration' | 'size' | 'ratio'
  readonly min: string
  readonly max: string
}

/** Minimum and maximum number of keys that may be set together (keyword `choice`). */
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
  /** Remedies for keys that are often written here but belong elsewhere. */
  readonly misplaced?: Readonly<Record<string, string>>
  /** Old names of keys, see read/normalized. */
  readonly deprecatedKeys?: DeprecatedKeys
  /** Old values and their replacements, see read/normalized. */
  readonly deprecatedValues?: Readonly<Record<string, unknown>>
}

/**
 * Creates the schema of an object that rejects unknown keys. A key with a default may be omitted, but its
 * type is not optional: defaults are filled in before anything reads the document.
 */
export function object<P extends TProperties>(properties: P, options: Options = {}): TObject<P> {
  const schema: TObject<P> = Type.Object(properties, { additionalProperties: false, ...options })
  const isOptional = (key: string) =>
    OptionalKind in properties[key]! || properties[key]!.default !== undefined
  return Object.assign(schema, { required: Object.keys(properties).filter((key) => !isOptional(key)) })
}

/** Creates the schema of an object whose keys the user chooses. */
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

/** Creates the schema of a string with a fixed set of values. */
export function oneOf<const W extends readonly string[]>(words: W, options: Options) {
  return Type.Unsafe<W[number]>({ type: 'string', enum: words, ...options })
}

/** Creates the schema of a duration such as `5s`. */
export function duration(min: string, max: string, options: Options) {
  const bounds: Bounds = { unit: 'duration', min, max }
  return Type.String({ pattern: DURATION_PATTERN, bounds, ...options })
}

/** Creates the schema of a size such as `16kb`. */
export function size(min: string, max: string, options: Options) {
  const bounds: Bounds = { unit: 'size', min, max }
  return Type.String({ pattern: SIZE_PATTERN, bounds, ...options })
}

/** Creates the schema of a ratio such as `20%`. */
export function ratio(options: Options) {
  return Type.String({
    pattern: RATIO_PATTERN,
    bounds: { unit: 'ratio', min: '0%', max: '100%' } satisfies Bounds,
    ...options,
  })
}

/** Creates the schema of an integer. */
export function integer(minimum: number, maximum: number, options: Options) {
  return Type.Integer({ minimum, maximum, ...options })
}

/**
 * Grammars of strings that the plan parses. The plan contains the values of their references; for other
 * grammars it keeps the references.
 */
const INLINED: ReadonlySet<GrammarName> = new Set([
  'address',
  'host-pattern',
  'path-pattern',
  'method',
  'hash-key',
  'request-match',
])

/** Creates the schema of a string that follows a grammar. */
export function text(grammar: GrammarName, options: Options = {}) {
  return Type.String({ grammar, maxLength: 4096, keepsReference: !INLINED.has(grammar), ...options })
}

/**
 * Creates the schema of a file or folder path. Relative paths start in the folder of the document (keyword
 * `path`).
 */
export function filePath(description: string) {
  return Type.String({ minLength: 1, maxLength: 4096, path: true, description })
}

const NAME_PATTERN = '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$'

/** Creates the schema of a name that the user chooses, such as an id. */
export function name(description: string, options: Options = {}) {
  return Type.String({
    pattern: NAME_PATTERN,
    description,
    expects: 'a name of up to 128 letters, digits, dots, hyphens and underscores',
    ...options,
  })
}
