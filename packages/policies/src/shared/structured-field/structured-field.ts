/** A value of a structured field (RFC 9651 section 3.3). Display strings are not supported. */
export type BareItem =
  | { readonly type: 'integer' | 'decimal' | 'date'; readonly value: number }
  | { readonly type: 'string' | 'token'; readonly value: string }
  | { readonly type: 'bytes'; readonly value: Buffer }
  | { readonly type: 'boolean'; readonly value: boolean }

/** Parameters in their original order. */
export type Parameters = ReadonlyMap<string, BareItem>

/** A value with its parameters. */
export interface Item {
  readonly item: BareItem
  readonly parameters: Parameters
}

/** A list of items inside a list or dictionary. */
export interface InnerList {
  readonly items: readonly Item[]
  readonly parameters: Parameters
}

/** A member of a list or dictionary. */
export type Member = Item | InnerList

/** Members of a dictionary by key. */
export type Dictionary = ReadonlyMap<string, Member>

/** Shape of a structured field. */
export type FieldShape = 'dictionary' | 'list' | 'item'

/** Returns true if a member is an inner list. */
export function isInnerList(member: Member): member is InnerList {
  return 'items' in member
}
