import { Findings } from './findings.js'
import { scanForm, scanUrl } from './formats/form.js'
import { scansOf } from './formats/format-of.js'
import { asciiJson, isMembers, type Members } from './members.js'
import type { TextContext } from './pattern-rules.js'
import { textOf } from './pieces.js'
import type { PrivacyArea, PrivacyOptions } from './privacy-options.js'
import { type AreaRules, compileRules } from './rules.js'
import { redactedText, redactedValue, takenValue, takingRule } from './text-redaction.js'

/** Record fields that repeat a header field. */
const COPIES: readonly (readonly [string, string])[] = [
  ['ua', 'user-agent'],
  ['xff', 'x-forwarded-for'],
]

/** Applies the privacy rules to records, one at a time. Used on a separate thread. */
export class RecordPrivacy {
  readonly #rules: Readonly<Record<PrivacyArea, AreaRules>>

  /** @throws Error if the rules are invalid. */
  constructor(options: PrivacyOptions) {
    this.#rules = compileRules(options)
  }

  /**
   * Returns the redacted line, or the same line if nothing changes. @throws Error if the record cannot be
   * checked completely.
   */
  redacted(line: string): string {
    const record: unknown = JSON.parse(line)
    if (!isMembers(record)) throw new Error('a record is an object')
    const findings = new Findings()
    const lacksDigest = this.#rules.body.isProtecting && leavesDigestsOut(record)
    // Redacts bodies first, because their header fields are needed to identify their format.
    this.#body(record, findings)
    this.#headers(record, findings)
    this.#query(record, findings)
    if (isPresent(record['vars'])) {
      record['vars'] = values(membersOf(record['vars']), this.#context('vars', findings), redactedValue)
    }
    if (!findings.isEmpty) record['privacy'] = findings.member()
    else if (!lacksDigest) return line
    return asciiJson(record)
  }

  #headers(record: Members, findings: Findings): void {
    const context = this.#context('headers', findings)
    if (context.rules.isEmpty) return
    if (isPresent(record['hdr'])) {
      const regions = membersOf(record['hdr'])
      for (const [name, region] of Object.entries(regions))
        regions[name] = values(membersOf(region), context, redactedField)
    }
    for (const [member, field] of COPIES) redactCopy(record, member, field, context)
    for (const side of ['req', 'res']) {
      if (isPresent(record[side])) redactCopy(membersOf(record[side]), 'ct', 'content-type', context)
    }
    if (!isPresent(record['body'])) return
    for (const region of Object.values(membersOf(record['body'])))
      redactCopy(membersOf(region), 'ct', 'content-type', context)
  }

  #query(record: Members, findings: Findings): void {
    if (!isPresent(record['url'])) return
    const url = membersOf(record['url'])
    const context = this.#context('query', findings)
    if (!isPresent(url['query']) || context.rules.isEmpty) return
    const pieces = redactedText(textIn(url['query']), [scanForm], context)
    if (pieces !== null) url['query'] = textOf(pieces)
  }

  #body(record: Members, findings: Findings): void {
    const { body } = record
    if (!isPresent(body) || this.#rules.body.isEmpty) return
    for (const [name, value] of Object.entries(membersOf(body))) {
      const region = membersOf(value)
      if (isPresent(region['base64']) && this.#rules.body.isProtecting) {
        // Binary content cannot be checked by any rule.
        delete region['base64']
        findings.fail('binary')
      }
      if (isPresent(region['text'])) this.#text(region, contentTypeOf(record, name, region), findings)
    }
  }

  #text(region: Members, contentType: string, findings: Findings): void {
    const context = { ...this.#context('body', findings), isCut: region['truncated'] === true }
    const text = textIn(region['text'])
    const pieces = redactedText(text, scansOf(text, contentType), context)
    if (pieces === null) return
    region['text'] = textOf(pieces)
    // A digest of the original body would allow guesses about hidden values to be confirmed.
    delete region['sha256']
  }

  #context(area: PrivacyArea, findings: Findings): TextContext {
    return { rules: this.#rules[area], findings, isCut: false, depth: 0, wrap: (written) => written }
  }
}

type Redact = typeof redactedValue

/**
 * Removes the digests of bodies that rules cannot read completely. They would allow guesses about the content
 * to be confirmed.
 */
function leavesDigestsOut({ body }: Members): boolean {
  if (!isPresent(body)) return false
  let isChanged = false
  for (const region of Object.values(membersOf(body)).map(membersOf)) {
    if (!isPresent(region['sha256']) || (isPresent(region['text']) && region['truncated'] !== true)) continue
    delete region['sha256']
    isChanged = true
  }
  return isChanged
}

/** Redacts values by name. A value may be a list of strings. */
function values(members: Members, context: TextContext, redact: Redact): Members {
  if (context.rules.isEmpty) return members
  const kept: [string, unknown][] = []
  for (const [name, value] of Object.entries(members)) {
    const texts = Array.isArray(value) ? value : [value]
    const left = texts.flatMap((one) => redactMember(name, textIn(one), context, redact) ?? [])
    if (left.length > 0 || texts.length === 0) kept.push([name, Array.isArray(value) ? left : left[0]])
  }
  return Object.fromEntries(kept)
}

/** Returns the redacted value, or null if it is deleted. */
function redactMember(name: string, text: string, context: TextContext, redact: Redact): string | null {
  const rule = takingRule(name, context)
  if (rule !== null) {
    const taken = takenValue(rule, { text, written: text, isUnquoted: false, isContainer: false }, context)
    return taken === null ? null : textOf(taken)
  }
  const pieces = redact(text, context)
  return pieces === null ? text : textOf(pieces)
}

/** Redacts a header field value. Fields such as Referer and Location may contain a query. */
function redactedField(text: string, context: TextContext): ReturnType<Redact> {
  const question = text.indexOf('?')
  if (question === -1 || text.indexOf('=', question) === -1) return redactedValue(text, context)
  return redactedText(text, [scanUrl], context)
}

function redactCopy(members: Members, member: string, field: string, context: TextContext): void {
  const value = members[member]
  if (!isPresent(value)) return
  const left = values({ [field]: value }, context, redactedField)[field]
  if (left === undefined) delete members[member]
  else members[member] = left
}

function contentTypeOf(record: Members, region: string, { ct }: Members): string {
  const fields = isMembers(record['hdr']) ? record['hdr'][region] : undefined
  const written = isMembers(fields) ? fields['content-type'] : undefined
  const side = record[region.startsWith('req') ? 'req' : 'res']
  const copy = isMembers(side) ? side['ct'] : undefined
  return String(ct ?? written ?? copy ?? '')
}

function textIn(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new Error('a text is expected')
}

function membersOf(value: unknown): Members {
  if (isMembers(value)) return value
  throw new Error('an object is expected')
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}
