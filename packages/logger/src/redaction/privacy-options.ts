import type { ValueTypeName } from '@sluice/core'

/** Part of a record in which rules search. */
export type PrivacyArea = 'headers' | 'query' | 'body' | 'vars'

/** Values that a rule searches for. */
export type PrivacyFind =
  | { readonly names: readonly string[] }
  | { readonly regex: string }
  | { readonly type: ValueTypeName }

/** Part of a value that a mask leaves visible; `count` is a number of characters. */
export interface MaskShape {
  readonly kind: 'whole' | 'keepFirst' | 'keepLast' | 'maskFirst'
  readonly count: number
}

/** A privacy rule. */
export interface PrivacyRule {
  readonly id: string
  readonly find: PrivacyFind
  readonly in: readonly PrivacyArea[]
  readonly do: 'mask' | 'delete' | 'hash' | 'encrypt' | 'detect'
  /** Shape for the action `mask`. */
  readonly shape: MaskShape
}

/** A key from the configuration. */
export interface PrivacyKey {
  readonly id: string
  readonly secret: string
}

/** Privacy rules and keys of the traffic log. */
export interface PrivacyOptions {
  /** Keys for hashing and encryption. The first one is used. The others are kept for older records. */
  readonly keys: readonly PrivacyKey[]
  readonly rules: readonly PrivacyRule[]
}
