import type { OptionalKind, Static, TArray, TObject, TProperties, TSchema } from '@sinclair/typebox'

/** Names of the options that are always present: required ones, and optional ones with a default. */
type PresentKeys<P extends TProperties> = {
  [K in keyof P]: P[K] extends { [OptionalKind]: 'Optional' }
    ? P[K] extends { readonly default: unknown }
      ? K
      : never
    : K
}[keyof P]

/** Configuration of a policy with the defaults of its schema filled in. */
export type Configured<S extends TSchema> =
  S extends TObject<infer P>
    ? { [K in PresentKeys<P>]: Configured<P[K]> } & {
        [K in Exclude<keyof P, PresentKeys<P>>]?: Configured<P[K]>
      }
    : S extends TArray<infer I>
      ? Configured<I>[]
      : Static<S>

/** Returns a copy of a configuration with the defaults of its schema. Values of unions and records are kept. */
export function withDefaults(schema: TSchema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const item: TSchema | undefined = schema['items']
    return item === undefined ? value : value.map((each) => withDefaults(item, each))
  }
  if (typeof value !== 'object' || value === null) return value
  const filled: Record<string, unknown> = { ...value }
  for (const [key, property] of Object.entries((schema['properties'] ?? {}) as TProperties)) {
    const given = filled[key] === undefined ? structuredClone(property.default) : filled[key]
    if (given !== undefined) filled[key] = withDefaults(property, given)
  }
  return filled
}
