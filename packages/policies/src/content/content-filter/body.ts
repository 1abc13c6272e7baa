import { FORM_TYPE, isJsonType, MASK, UnreadableBody } from '@sluice/core'
import {
  compileJsonLocations,
  eachLocation,
  type JsonLocation,
  type JsonLocations,
  removeLocations,
  setAt,
  valueAt,
} from '../../engines/json/locations.js'
import type { JsonView } from '../../shared/json/view.js'
import { withContext } from '../../shared/outcome/with-context.js'
import type { BodyInput } from '../../shared/text/body-reading.js'
import { textsOfBody } from '../../shared/text/body-text.js'
import { changed, changedText, changes, type Finder, type Finders } from './finder.js'
import type { Rule } from './rules.js'

/** Result of scanning a body. */
export interface BodyFindings {
  /** Indexes of the matching rules, which a thread can send. */
  readonly rules: readonly number[]
  /** The changed body, or null if it was not changed. */
  readonly body: Uint8Array | null
  /** True if matched text must be removed but cannot be separated from the rest. */
  readonly cannotRemove: boolean
}

interface PathFinder {
  readonly locations: JsonLocations
  readonly finder: Finder
}

const BODY = 'body'
const PATH = 'body:'
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g

/** Scans bodies, and removes or masks the matches of rules that ask for it. */
export class BodyScan {
  readonly #rules: readonly Rule[]
  readonly #text: Finder | null
  readonly #paths: readonly PathFinder[]

  /** @throws Error if a JSON path is invalid. */
  constructor(rules: readonly Rule[], finders: Finders) {
    this.#rules = rules
    this.#text = finders.of(BODY)
    const targets = new Set(
      rules.flatMap(({ targets }) => targets).filter((target) => target.startsWith(PATH)),
    )
    this.#paths = [...targets].map((target) => {
      const meant = rules.filter((rule) => rule.targets.includes(target))
      const locations = withContext(`rule '${meant[0]!.name}':`, () =>
        compileJsonLocations(target.slice(PATH.length)),
      )
      return { locations, finder: finders.of(target)! }
    })
  }

  /** True if there is nothing to scan for. */
  get isIdle(): boolean {
    return this.#text === null && this.#paths.length === 0
  }

  /** True if the beginning of a body is not enough to apply the rules. */
  get needsWhole(): boolean {
    const inBody = this.#rules.filter(({ targets }) => targets.some((one) => one.startsWith(BODY)))
    return this.#paths.length > 0 || changes(inBody)
  }

  /** Scans a body. @throws UnreadableBody if the body must be JSON and is not. */
  scan(input: BodyInput, json: () => JsonView): BodyFindings {
    const found = new Set<Rule>()
    const texts = textsOfBody(input.body, input.kind)
    const [text, ...others] = texts
    const find = (one: string) => this.#text?.find(one, input.kind.type === FORM_TYPE) ?? []
    const inText = find(text)
    const inOthers = others.flatMap(find)
    for (const rule of [...inText, ...inOthers]) found.add(rule)
    const view = this.#paths.length > 0 || changes(inText) ? jsonIfAny(input, texts, json) : null
    // Copied only if a rule changes the body.
    let root: unknown
    const copy = (): unknown => {
      root ??= view!.copy()
      return root
    }
    let cannotRemove = changes(inOthers.filter((rule) => !inText.includes(rule)))
    let rest: Uint8Array | null = null
    if (changes(inText)) {
      if (view !== null) {
        const left = changedValues(copy(), { text, finder: this.#text!, expected: inText })
        cannotRemove ||= left === null
        root = left === null ? root : left.root
      } else {
        const left = changedText(text, inText, this.#text!)
        cannotRemove ||= left === null
        rest = left === null ? null : Buffer.from(left)
      }
    }
    if (view !== null) {
      for (const path of this.#paths) scanLocations(path, root ?? view.value, copy, found)
    }
    if (root !== undefined) rest = Buffer.from(JSON.stringify(root))
    return { rules: [...found].map((rule) => this.#rules.indexOf(rule)), body: rest, cannotRemove }
  }
}

function jsonIfAny({ kind }: BodyInput, texts: readonly string[], json: () => JsonView): JsonView | null {
  if (isJsonType(kind.type)) return unambiguous(json())
  const text = texts.find((one) => /^\s*[[{"]/.test(one))
  if (text === undefined) return null
  let view: JsonView
  try {
    view = json()
  } catch (error) {
    // JSON that we cannot parse (too deep, UTF-16 or with a byte order mark) may still be readable for a more
    // lenient parser.
    if (error instanceof UnreadableBody && !isJsonText(text)) return null
    throw error
  }
  return unambiguous(view)
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text.replace(/^\ufeff/, ''))
    return true
  } catch {
    return false
  }
}

/** Refuses duplicate names: the upstream might use the value that was not scanned. */
function unambiguous(view: JsonView): JsonView {
  if (!view.hasDuplicateKeys) return view
  throw new UnreadableBody('GW_BODY_UNPARSABLE', 'the body has an object with a duplicate name')
}

/**
 * Changes matching strings, numbers and booleans of a JSON value. Returns null if a match remains:
 * in a member name, in digits that do not fit into a double, or across two values.
 */
function changedValues(
  root: unknown,
  { text, finder, expected }: { text: string; finder: Finder; expected: readonly Rule[] },
): { readonly root: unknown } | null {
  const missing = new Set(expected.filter((rule) => changes([rule])))
  const whole = { root }
  const gone: JsonLocation[] = []
  let cannotRemove = longNumbersOf(text).some((digits) => changes(finder.find(digits)))
  eachLocation(whole, (location, value) => {
    if (typeof location.key === 'string' && location.parent !== whole)
      cannotRemove ||= changes(finder.find(location.key))
    if (value === null || typeof value === 'object') return
    const found = finder.find(typeof value === 'string' ? value : JSON.stringify(value))
    if (found.length === 0) return
    for (const rule of found) missing.delete(rule)
    if (!changes(found)) return
    const rest = changed(String(value), found)
    if (rest === null) gone.push(location)
    else setAt(location, rest)
  })
  removeLocations(gone)
  return cannotRemove || missing.size > 0 || whole.root === undefined ? null : whole
}

/** Returns the numbers of a JSON text that lose digits when parsed. */
function longNumbersOf(text: string): string[] {
  const tokens = text.match(STRING_OR_NUMBER) ?? []
  return tokens.filter((token) => token[0] !== '"' && token.length > 15 && String(Number(token)) !== token)
}

function scanLocations(
  { locations, finder }: PathFinder,
  root: unknown,
  copy: () => unknown,
  all: Set<Rule>,
): void {
  const changing: { readonly value: unknown; readonly found: readonly Rule[] }[] = []
  for (const value of locations.all(root).map(valueAt)) {
    const found = finder.find(typeof value === 'string' ? value : JSON.stringify(value))
    for (const rule of found) all.add(rule)
    changing.push({ value, found })
  }
  if (!changing.some(({ found }) => changes(found))) return
  const gone: JsonLocation[] = []
  // The copy has the same locations in the same order.
  locations.all(copy()).forEach((location, i) => {
    const { value, found } = changing[i]!
    if (!changes(found)) return
    const rest = typeof value === 'string' ? changed(value, found) : removed(found) ? null : MASK
    if (rest === null) gone.push(location)
    else setAt(location, rest)
  })
  removeLocations(gone)
}

function removed(found: readonly Rule[]): boolean {
  return found.some(({ action }) => action === 'remove')
}
