import type { ValueTypeName } from '@sluice/core'

/** A part of a record in which rules look. */
export type PrivacyArea = 'headers' | 'query' | 'body' | 'vars'

/** What a rule looks for. */
export type PrivacyFind =
  | { readonly names: readonly string[] }
  | { readonly regex: string }
  | { readonly type: ValueTypeName }

/** How much of a value a mask leaves; `count` characters. */
export interface MaskShape {
  readonly kind: 'whole' | 'keepFirst' | 'keepLast' | 'maskFirst'
  readonly count: number
}

/** One privacy rule. */
export interface PrivacyRule {
  readonly id: string
  readonly find: PrivacyFind
  readonly in: readonly PrivacyArea[]
  readonly do: 'mask' | 'delete' | 'hash' | 'encrypt' | 'detect'
  /** Of the action `mask`. */
  readonly shape: MaskShape
}

/** A key as the configuration has it. */
export interface PrivacyKey {
  readonly id: string
  readonly secret: string
}

/** What is kept out of the traffic log. */
export interface PrivacyOptions {
  /** The first one hashes and encrypts; the others are there for the ids of older records. */
  readonly keys: readonly PrivacyKey[]
  readonly rules: readonly PrivacyRule[]
}
