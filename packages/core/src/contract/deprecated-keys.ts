/**
 * Replacement of a deprecated key: the path of the new key, such as `cache.ttl`, and the new values by old
 * value if they differ. A string is the path alone. The schema of an object lists its deprecated keys under the
 * keyword `deprecatedKeys`. They are replaced, with a warning, before anything reads the configuration.
 */
export type DeprecatedKey =
  | string
  | {
      readonly use: string
      readonly values?: Readonly<Record<string, unknown>>
      /** True if both keys may be set. The items of the old list are then added to those of the replacement. */
      readonly joins?: true
    }

/** Deprecated keys of an object, by name. */
export type DeprecatedKeys = Readonly<Record<string, DeprecatedKey>>
