/** A value of a structured field (RFC 9651 section 3.3); display strings are not among them. */
export type BareItem =
  | { readonly type: 'integer' | 'decimal' | 'date'; readonly value: number }
  | { readonly type: 'string' | 'token'; readonly value: string }
  | { readonly type: 'bytes'; readonly value: Buffer }
  | { readonly type: 'boolean'; readonly value: boolean }

/** Parameters in the order they were written. */
export type Parameters = ReadonlyMap<string, BareItem>

export interface Item {
  readonly item: BareItem
  readonly parameters: Parameters
}

export interface InnerList {
  readonly items: readonly Item[]
  readonly parameters: Parameters
}

export type Member = Item | InnerList

export type Dictionary = ReadonlyMap<string, Member>

/** The three shapes a field can have. */
export type FieldShape = 'dictionary' | 'list' | 'item'

/** Distinguishes the two kinds of members. */
export function isInnerList(member: Member): member is InnerList {
  return 'items' in member
}
