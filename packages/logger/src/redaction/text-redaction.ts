import { Edits } from './edits.js'
import { structureOf } from './formats/format-of.js'
import { looseScan } from './formats/loose.js'
import { PLAIN, type Syntax } from './formats/syntax.js'
import { type Location, plainLocation, type Scan, type Visitor } from './formats/visitor.js'
import type { TextContext } from './pattern-rules.js'
import { applyRegex, applyTypes } from './pattern-rules.js'
import { open, type Piece, textOf } from './piece.js'
import type { AreaRules, Found, NameRule, TypeRule } from './rules.js'

/** Texts within texts, at most. */
const MAX_DEPTH = 4
/** No type of value is shorter. */
const SHORTEST_VALUE = 5
/** What introduces an escape in JSON, XML or a form. Looking for each of them is faster than an expression for all. */
const ESCAPES = ['\\', '&', '%', '+']

/**
 * A text without the values that the rules find, or null when they find nothing.
 * @throws Error when it is nested too deep to be looked through.
 */
export function redactedText(
  text: string,
  scans: readonly Scan[],
  context: TextContext,
): readonly Piece[] | null {
  let pieces: readonly Piece[] = [open(text)]
  if (holdsNothing(text, context)) {
    if (context.depth > 0 || context.rules.regexes.length === 0) return null
    pieces = applyRegex(pieces, context)
    return pieces.length === 1 && pieces[0]!.text === text ? null : pieces
  }
  let isClean = scans.length > 0
  for (const scan of scans) {
    const visit = new TextVisit(textOf(pieces), context)
    isClean = scan(visit.text, visit) && isClean
    pieces = visit.edits.pieces() ?? pieces
  }
  // What is not of the format, its scanner may have misread: the whole text is looked through as text, too.
  if (!isClean) pieces = applyTypes(looselyRedacted(pieces, context), context)
  if (context.depth === 0) pieces = applyRegex(pieces, context)
  return pieces.length === 1 && pieces[0]!.text === text ? null : pieces
}

/** A text that is one value, such as that of a header field; it may hold another text. */
export function redactedValue(text: string, context: TextContext): readonly Piece[] | null {
  const { types, regexes } = context.rules
  const scan = mayBeStructure(text) ? structureOf(text) : null
  if (scan === null) {
    const hasName = context.rules.occursIn(text)
    if (regexes.length === 0 && !hasName && !hasTypes(text, types, context.isCut)) return null
    // A URL with a query, a query of GraphQL, a line of a log: names with values within a text.
    const named = hasName ? looselyRedacted([open(text)], context) : [open(text)]
    const typed = applyTypes(named, context)
    const pieces = context.depth === 0 ? applyRegex(typed, context) : typed
    return pieces.length === 1 && pieces[0]!.text === text ? null : pieces
  }
  if (context.depth >= MAX_DEPTH) throw new Error('texts are nested too deep')
  return redactedText(text, [scan], context)
}

/** What a rule that takes a value leaves of it; null deletes it. */
export function takenValue(rule: NameRule, found: Found, context: TextContext): readonly Piece[] | null {
  context.findings.add(rule)
  if (typeof rule.action === 'string') return null
  return applyTypes([rule.action(found)], context)
}

/** The first rule that takes values under this name, or null; those that only look are noted. */
export function takingRule(name: string, { rules, findings }: TextContext): NameRule | null {
  const named = rules.named(name)
  for (const rule of named) {
    if (rule.action !== 'detect') return rule
    findings.add(rule)
  }
  return null
}

function looselyRedacted(pieces: readonly Piece[], context: TextContext): readonly Piece[] {
  const scan = looseScanOf(context.rules)
  if (scan === null) return pieces
  return pieces.flatMap((piece) => {
    if (piece.isOpaque) return [piece]
    const visit = new TextVisit(piece.text, context)
    scan(piece.text, visit)
    return visit.edits.pieces() ?? [piece]
  })
}

/** Whether there can be nothing for rules of names and types in any part of the text. */
function holdsNothing(text: string, context: TextContext): boolean {
  if (mayHide(text) || context.rules.occursIn(text)) return false
  return possibleTypes(text, context).length === 0
}

/**
 * What is not in the whole text is in none of its parts, unless an escape hides it. Most texts hold no value of most
 * types, so one look at the whole spares a look at each part.
 */
function possibleTypes(text: string, { rules, isCut }: TextContext): readonly TypeRule[] {
  if (mayHide(text)) return rules.types
  return rules.types.filter((rule) => rule.find(text, isCut).length > 0)
}

function mayHide(text: string): boolean {
  for (let i = 0; i < ESCAPES.length; i++) {
    if (text.includes(ESCAPES[i]!)) return true
  }
  return false
}

function hasTypes(text: string, types: readonly TypeRule[], isCut: boolean): boolean {
  for (let i = 0; i < types.length; i++) {
    if (types[i]!.find(text, isCut).length > 0) return true
  }
  return false
}

/** Whether a text may hold names of its own; what stands before the first bracket is space. */
function mayBeStructure(text: string): boolean {
  const first = text.charCodeAt(0)
  return (
    first === 0x7b || first === 0x5b || first === 0x3c || first <= 32 || first === 0xfeff || first === 0xa0
  )
}

const looseScans = new WeakMap<AreaRules, Scan>()

function looseScanOf(rules: AreaRules): Scan | null {
  if (rules.names.length === 0) return null
  const known = looseScans.get(rules)
  if (known !== undefined) return known
  const scan = looseScan(rules.names)
  looseScans.set(rules, scan)
  return scan
}

/** Changes a text while its scanner goes through it. */
class TextVisit implements Visitor {
  readonly text: string
  readonly edits: Edits
  readonly #context: TextContext
  /** Those whose values may stand somewhere in the text. */
  readonly #types: readonly TypeRule[]

  constructor(text: string, context: TextContext) {
    this.text = text
    this.edits = new Edits(text)
    this.#context = context
    this.#types = possibleTypes(text, context)
  }

  takes(name: string): boolean {
    return takingRule(name, this.#context) !== null
  }

  take(name: string, location: Location): void {
    const rule = takingRule(name, this.#context)!
    const pieces = takenValue(rule, this.#found(location), this.#context)
    if (pieces === null) this.edits.replace(...location.outer(this.edits.end), [])
    else this.edits.replace(location.start, location.end, written(pieces, location))
  }

  leaf(start: number, end: number, syntax: Syntax, isUnquoted: boolean): void {
    if (end - start < SHORTEST_VALUE) return
    const { rules, isCut, depth, wrap } = this.#context
    const text = syntax.decode(this.text.slice(start, end))
    const isCutHere = isCut && end === this.text.length
    const isPlain = !mayBeStructure(text) && !rules.occursIn(text)
    if (isPlain && !hasTypes(text, this.#types, isCutHere)) return
    const pieces = redactedValue(text, {
      rules,
      findings: this.#context.findings,
      isCut: isCutHere,
      depth: depth + 1,
      wrap: (inner) => wrap(syntax.encode(inner)),
    })
    if (pieces === null) return
    this.edits.replace(start, end, written(pieces, { ...plainLocation(start, end, syntax), isUnquoted }))
  }

  #found({ start, end, syntax, isUnquoted, isContainer }: Location): Found {
    const raw = this.text.slice(start, end)
    const { wrap } = this.#context
    return { text: isContainer ? raw : syntax.decode(raw), written: wrap(raw), isUnquoted, isContainer }
  }
}

/** The pieces of a value as they are written at its place. */
function written(pieces: readonly Piece[], { syntax, isUnquoted }: Location): readonly Piece[] {
  const inner =
    syntax === PLAIN
      ? pieces
      : pieces.map((piece) => (piece.isOpaque ? piece : open(syntax.encode(piece.text))))
  return isUnquoted ? [open('"'), ...inner, open('"')] : inner
}
