import { scanForm, scanUrl } from './formats/form.js'
import { structureOf } from './formats/format-of.js'
import { looseScan } from './formats/loose.js'
import { PLAIN, type Syntax } from './formats/syntax.js'
import { type Location, plainLocation, type Scan, type Visitor } from './formats/visitor.js'
import { applyRegex, applyTypes, type TextContext } from './pattern-rules.js'
import { Edits, openPiece, type Piece, textOf } from './pieces.js'
import { plainReading } from './plain-reading.js'
import type { AreaRules, Found, NameRule, TypeRule } from './rules.js'
import { mayBeStructure, Suspects } from './suspects.js'

/** Maximum number of nested texts. */
const MAX_DEPTH = 4
/** Minimum length of a value of any type. */
const MIN_VALUE_LENGTH = 5
const AT_SIGN = /[@\uff20]/

/**
 * Redacts a text. Returns null if the rules match nothing. @param scansOf Returns the scanners for the text.
 * @throws Error if texts are nested too deeply.
 */
export function redactedText(
  text: string,
  scansOf: () => readonly Scan[],
  context: TextContext,
): readonly Piece[] | null {
  const types = possibleTypes(text, context)
  let pieces: readonly Piece[] = [openPiece(text)]
  if (types !== null) pieces = searched(pieces, scansOf(), types, context)
  if (context.depth === 0) pieces = applyRegex(pieces, context)
  return pieces.length === 1 && pieces[0]!.text === text ? null : pieces
}

/** Redacts a text that is a single value, such as that of a header field. It may contain another text. */
export function redactedValue(text: string, context: TextContext): readonly Piece[] | null {
  return redactedText(text, () => (mayBeStructure(text.charCodeAt(0)) && structureOf(text)) || [], context)
}

/** Redacts a query. */
export function redactedQuery(text: string, context: TextContext): readonly Piece[] | null {
  return redactedText(text, () => [scanForm], context)
}

/** Redacts a header field value. Fields such as Referer and Location may contain a query. */
export function redactedField(text: string, context: TextContext): readonly Piece[] | null {
  const question = text.indexOf('?')
  if (question === -1 || text.indexOf('=', question) === -1) return redactedValue(text, context)
  return redactedText(text, () => [scanUrl], context)
}

/** Applies name and type rules. @param types Type rules that may match in the text. */
function searched(
  whole: readonly Piece[],
  scans: readonly Scan[],
  types: readonly TypeRule[],
  context: TextContext,
): readonly Piece[] {
  if (scans.length > 0 && context.depth >= MAX_DEPTH) throw new Error('texts are nested too deeply')
  let pieces = whole
  let isClean = scans.length > 0
  for (const scan of scans) {
    const visit = new TextVisit(textOf(pieces), context, pieces === whole ? types : context.rules.types)
    isClean = scan(visit.text, visit) && isClean
    pieces = visit.edits.pieces() ?? pieces
  }
  // The scanner may have misread invalid parts, so the whole text is also scanned as plain text.
  return isClean ? pieces : applyTypes(looselyRedacted(pieces, context), context)
}

/** Applies a name rule to a value. Returns null if the value is deleted. */
export function takenValue(rule: NameRule, found: Found, context: TextContext): readonly Piece[] | null {
  context.findings.add(rule)
  if (typeof rule.action === 'string') return null
  return applyTypes([rule.action(found)], context)
}

/** Returns the first rule that changes values with this name, or null. Notes rules that only detect. */
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
    if (piece.isOpaque || context.rules.nextName(piece.text, 0) === Number.POSITIVE_INFINITY) return [piece]
    const visit = new TextVisit(piece.text, context, context.rules.types)
    scan(piece.text, visit)
    return visit.edits.pieces() ?? [piece]
  })
}

/**
 * Returns the type rules that may match in a text or in its parts, however these are decoded. Returns null if neither
 * they nor name rules can match. Most texts contain no value and no name, so this saves reading their parts.
 */
function possibleTypes(text: string, { rules, isCut }: TextContext): readonly TypeRule[] | null {
  const plain = plainReading(text)
  if (plain === null) return rules.types
  const isEscaped = plain !== text
  // In forms, a plus is a space.
  const spaced = plain.includes('+') ? plain.replaceAll('+', ' ') : null
  const types = rules.types.filter((rule) => {
    if (rule.find(plain, isCut).length > 0) return true
    if (isEscaped && rule.type === 'email' && AT_SIGN.test(text)) return true
    // At the end of a truncated text, the digits of an escape may be the beginning of a value.
    if (isEscaped && isCut && rule.find(text, isCut).length > 0) return true
    return spaced !== null && (rule.type === 'phone' || rule.find(spaced, isCut).length > 0)
  })
  if (types.length > 0 || rules.occursIn(text)) return types
  return rules.hasPlainNames || (!isEscaped && spaced === null) ? null : types
}

function hasTypes(text: string, types: readonly TypeRule[], isCut: boolean): boolean {
  for (let i = 0; i < types.length; i++) {
    if (types[i]!.find(text, isCut).length > 0) return true
  }
  return false
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

/** Redacts a text while it is scanned. */
class TextVisit implements Visitor {
  readonly text: string
  readonly edits: Edits
  readonly #context: TextContext
  /** Type rules that may match in the text. */
  readonly #types: readonly TypeRule[]
  readonly #suspects: Suspects

  constructor(text: string, context: TextContext, types: readonly TypeRule[]) {
    this.text = text
    this.edits = new Edits(text)
    this.#context = context
    this.#types = types
    this.#suspects = new Suspects(text, context.rules)
  }

  mayMatter(start: number, end: number): boolean {
    return this.#suspects.include(start, end)
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
    if (end - start < MIN_VALUE_LENGTH) return
    const { rules, isCut, depth, wrap } = this.#context
    const isCutHere = isCut && end === this.text.length
    if (!isCutHere && !this.#suspects.include(start, end)) return
    const text = syntax.decode(this.text.slice(start, end))
    const isPlain = !mayBeStructure(text.charCodeAt(0)) && !rules.occursIn(text)
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

/** Encodes the pieces of a value for its position in the text. */
function written(pieces: readonly Piece[], { syntax, isUnquoted }: Location): readonly Piece[] {
  const inner =
    syntax === PLAIN
      ? pieces
      : pieces.map((piece) => (piece.isOpaque ? piece : openPiece(syntax.encode(piece.text))))
  return isUnquoted ? [openPiece('"'), ...inner, openPiece('"')] : inner
}

/** Returns true if redaction cannot change or report the text. */
export function isUntouched(text: string, context: TextContext): boolean {
  return context.rules.regexes.length === 0 && possibleTypes(text, context) === null
}
