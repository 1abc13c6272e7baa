import { Findings } from './findings.js'
import { scansOf } from './formats/format-of.js'
import { MemberRedaction } from './member-redaction.js'
import { asciiJson, type Members, membersIn, textIn } from './members.js'
import type { TextContext } from './pattern-rules.js'
import { textOf } from './pieces.js'
import type { PrivacyArea, PrivacyOptions } from './privacy-options.js'
import { compileRules } from './rules.js'
import { redactedField, redactedQuery, redactedText, redactedValue } from './text-redaction.js'

/**
 * Members of a record in which rules search. Those that may contain any text are at its end, and the others are texts.
 * Cannot match inside a string value, because quotes are escaped there.
 */
const SEARCHED = /"(?:(?:vars|hdr|body)":|privacy|(?:ua|xff|ct|query)(?:":"|"))/g
/** Names of the header fields that other members repeat. */
const COPIED = { ua: 'user-agent', xff: 'x-forwarded-for', ct: 'content-type' } as const
const COMMA = 44
const COLON = 58

/** Applies the privacy rules to records, one at a time. Used on a separate thread. */
export class RecordPrivacy {
  readonly #body: TextContext
  readonly #headers: MemberRedaction
  readonly #query: MemberRedaction
  readonly #vars: MemberRedaction
  /** Findings in the current record. */
  readonly #findings = new Findings()
  /** True if rules concern the user agent or content type whatever it contains. */
  readonly #isNeverPlain: boolean

  /** @throws Error if the rules are invalid. */
  constructor(options: PrivacyOptions) {
    const areas = compileRules(options)
    const context = (area: PrivacyArea): TextContext => ({
      ...{ rules: areas[area], findings: this.#findings, isCut: false, depth: 0 },
      wrap: (written) => written,
    })
    this.#body = context('body')
    this.#headers = new MemberRedaction(context('headers'), redactedField)
    this.#query = new MemberRedaction(context('query'), redactedQuery)
    this.#vars = new MemberRedaction(context('vars'), redactedValue)
    this.#isNeverPlain = Object.values(COPIED).some((name) => areas.headers.named(name).length > 0)
  }

  /**
   * Returns the redacted line, or the same line if nothing changes. @throws Error if the record cannot be
   * checked completely.
   */
  redacted(line: string): string {
    const end = this.#plainEnd(line)
    if (end === line.length && line.endsWith('}')) return line
    if (!line.startsWith('{')) throw new Error('a record is an object')
    // Only the members at the end are parsed if no rule can match before them.
    const isPart = end !== 0 && end !== line.length
    const start = isPart ? end + 1 : 1
    const record = JSON.parse(`{${line.slice(start)}`) as Members
    this.#findings.clear()
    const isChanged = this.#bodies(record, isPart ? line : null)
    this.#fields(record)
    if (this.#findings.isEmpty) return isChanged ? line.slice(0, start) + asciiJson(record).slice(1) : line
    const redacted = asciiJson({ ...record, privacy: this.#findings.member() })
    return line.slice(0, start) + redacted.slice(1)
  }

  /**
   * Returns the position of the members at the end of a record or its length, if no rule can match before it. Otherwise
   * returns 0. Searching for a few texts is several times as fast as reading the record.
   */
  #plainEnd(line: string): number {
    if (this.#isNeverPlain || !line.startsWith('{"')) return 0
    SEARCHED.lastIndex = 0
    let end = line.length
    while (SEARCHED.test(line)) {
      const start = SEARCHED.lastIndex
      if (line.charCodeAt(start - 1) === COLON) {
        end = line.lastIndexOf('"', start - 3) - 1
        if (line.charCodeAt(end) !== COMMA) return 0
        break
      }
      if (line.charCodeAt(start - 2) !== COLON) return 0
      const quote = line.indexOf('"', start)
      const value = line.slice(start, quote)
      if (quote === -1 || !this.#headers.isUntouched(value) || !this.#query.isUntouched(value)) return 0
    }
    const backslash = line.indexOf('\\')
    return backslash === -1 || backslash > end ? end : 0
  }

  #fields(record: Members): void {
    const { hdr, url, vars } = record
    for (const fields of Object.values(membersIn(hdr))) this.#headers.redactAll(membersIn(fields))
    this.#headers.redact(record, 'ua', COPIED.ua)
    this.#headers.redact(record, 'xff', COPIED.xff)
    for (const part of [record['req'], record['res'], ...Object.values(membersIn(record['body']))])
      this.#headers.redact(membersIn(part), 'ct', COPIED.ct)
    this.#query.redact(membersIn(url), 'query', null)
    this.#vars.redactAll(membersIn(vars))
  }

  /**
   * Redacts the bodies. Returns true if one changes. @param line The whole record if `record` is only its end.
   */
  #bodies(record: Members, line: string | null): boolean {
    const { rules } = this.#body
    if (rules.isEmpty) return false
    let isChanged = false
    for (const [region, value] of Object.entries(membersIn(record['body']))) {
      const body = membersIn(value)
      const hasText = isPresent(body['text'])
      const isCut = body['truncated'] === true
      if (isPresent(body['base64']) && rules.isProtecting) {
        // Binary content cannot be checked by any rule.
        delete body['base64']
        this.#findings.fail('binary')
      }
      const redacted = hasText
        ? this.#redactedBody(textIn(body['text']), isCut, () => typeOf(region, record, line))
        : null
      if (redacted !== null) {
        body['text'] = redacted
        isChanged = true
      }
      // A digest of the original body would allow guesses about hidden values, or about content that no rule can
      // read, to be confirmed.
      const isUnread = rules.isProtecting && (!hasText || isCut)
      if (isPresent(body['sha256']) && (redacted !== null || isUnread)) {
        delete body['sha256']
        isChanged = true
      }
    }
    return isChanged
  }

  /** Returns the text of a body if it changes, otherwise null. */
  #redactedBody(text: string, isCut: boolean, typeOf: () => string): string | null {
    const context = isCut ? { ...this.#body, isCut } : this.#body
    const pieces = redactedText(text, () => scansOf(text, typeOf()), context)
    return pieces === null ? null : textOf(pieces)
  }
}

/** Returns the content type of a body in a record, or empty. @param line The whole record if `record` is only its end. */
function typeOf(region: string, record: Members, line: string | null): string {
  const fields = membersIn(membersIn(record['hdr'])[region])
  const own = membersIn(membersIn(record['body'])[region])['ct'] ?? fields['content-type']
  if (isPresent(own)) return String(own)
  const whole = line === null ? record : (JSON.parse(line) as Members)
  return String(membersIn(whole[region.startsWith('req') ? 'req' : 'res'])['ct'] ?? '')
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}
