/** A condition as written, freed of the parser that read it. Offsets count characters of the text from 0. */
export type Syntax =
  | LiteralSyntax
  | NameSyntax
  | SelectSyntax
  | IndexSyntax
  | CallSyntax
  | ListSyntax
  | MapSyntax
  | UnarySyntax
  | BinarySyntax
  | ChoiceSyntax

interface Place {
  /** Where the whole begins. */
  readonly start: number
  /** Where the thing itself stands: the name of a field, the name of a method. */
  readonly offset: number
}

export interface LiteralSyntax extends Place {
  readonly form: 'literal'
  readonly kind: 'string' | 'int' | 'double' | 'bool'
  readonly value: string | number | boolean
}

/** `req` */
export interface NameSyntax extends Place {
  readonly form: 'name'
  readonly name: string
}

/** `object.field` */
export interface SelectSyntax extends Place {
  readonly form: 'select'
  readonly object: Syntax
  readonly field: string
}

/** `object[key]` */
export interface IndexSyntax extends Place {
  readonly form: 'index'
  readonly object: Syntax
  readonly key: Syntax
}

/** `name(args)`, or `object.name(args)`. */
export interface CallSyntax extends Place {
  readonly form: 'call'
  readonly name: string
  readonly object: Syntax | null
  readonly args: readonly Syntax[]
}

export interface ListSyntax extends Place {
  readonly form: 'list'
  readonly items: readonly Syntax[]
}

export interface MapSyntax extends Place {
  readonly form: 'map'
  readonly entries: readonly (readonly [key: Syntax, value: Syntax])[]
}

export interface UnarySyntax extends Place {
  readonly form: 'unary'
  readonly operator: '!' | '-'
  readonly operand: Syntax
}

export type BinaryOperator =
  | '&&'
  | '||'
  | '=='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | 'in'
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'

export interface BinarySyntax extends Place {
  readonly form: 'binary'
  readonly operator: BinaryOperator
  readonly left: Syntax
  readonly right: Syntax
}

/** `condition ? yes : no` */
export interface ChoiceSyntax extends Place {
  readonly form: 'choice'
  readonly condition: Syntax
  readonly yes: Syntax
  readonly no: Syntax
}
