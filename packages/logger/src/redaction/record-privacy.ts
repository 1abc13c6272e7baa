import { Findings } from './findings.js'
import { scanForm, scanUrl } from './formats/form.js'
import { scansOf } from './formats/format-of.js'
import { LineEditor } from './line-editor.js'
import { asciiJson } from './members.js'
import type { TextContext } from './pattern-rules.js'
import { textOf } from './pieces.js'
import type { PrivacyArea, PrivacyOptions } from './privacy-options.js'
import { type AreaRules, compileRules, type NameRule } from './rules.js'
import { Suspects } from './suspects.js'
import { redactedText, redactedValue, takenValue, takingRule } from './text-redaction.js'

/** Members of a record that rules or the report of the findings concern. */
const PARTS = ['body', 'hdr', 'ua', 'xff', 'req', 'res', 'url', 'vars', 'privacy'] as const
/** The names of members in which rules search, with the start of a text. */
const SEARCHED = /"(?:body|hdr|vars|privacy|(?:ua|xff|ct|query)(?:":"|"))/g
/** Names of the header fields that other members repeat. */
const COPIED = ['user-agent', 'x-forwarded-for', 'content-type']
const QUOTE = 34
const COLON = 58
const BODY_MEMBERS = ['text', 'base64', 'sha256', 'ct', 'truncated'] as const

/** Applies the privacy rules to records, one at a time. Used on a separate thread. */
export class RecordPrivacy {
  readonly #contexts: Readonly<Record<PrivacyArea, TextContext>>
  /** Findings in the current record. */
  readonly #findings = new Findings()

  /** True if rules concern texts whatever they contain. */
  readonly #needsReading: boolean

  /** @throws Error if the rules are invalid. */
  constructor(options: PrivacyOptions) {
    const { headers, query, body, vars } = compileRules(options)
    const context = (rules: AreaRules): TextContext => ({
      ...{ rules, findings: this.#findings, isCut: false, depth: 0 },
      wrap: (written) => written,
    })
    this.#contexts = {
      headers: context(headers),
      query: context(query),
      body: context(body),
      vars: context(vars),
    }
    this.#needsReading =
      headers.regexes.length + query.regexes.length > 0 ||
      COPIED.some((name) => headers.named(name).length > 0)
  }

  /**
   * Returns the redacted line, or the same line if nothing changes. @throws Error if the record cannot be
   * checked completely.
   */
  redacted(line: string): string {
    if (this.#isPlain(line)) return line
    this.#findings.clear()
    const editor = new LineEditor(line)
    const [body, hdr, ua, xff, req, res, url, vars, privacy] = editor.positions(PARTS)
    const bracket = editor.finish()
    const types = [editor.positionIn(req, 'ct'), editor.positionIn(res, 'ct')] as const
    const query = editor.positionIn(url, 'query')
    // Redacts bodies first, because their header fields are needed to identify their format.
    const bodyTypes = body === -1 ? [] : this.#bodies(editor, body, hdr, types)
    const { headers } = this.#contexts
    if (!headers.rules.isEmpty) {
      const values = new ValueRedaction(editor, headers, redactedField)
      if (hdr !== -1) values.regions(hdr)
      values.member('ua', ua, 'user-agent')
      values.member('xff', xff, 'x-forwarded-for')
      for (const type of types) values.member('ct', type, 'content-type')
      for (const type of bodyTypes) values.member('ct', type, 'content-type')
    }
    if (query !== -1 && !this.#contexts.query.rules.isEmpty)
      new ValueRedaction(editor, this.#contexts.query, redactedQuery).member('query', query, null)
    if (vars !== -1) new ValueRedaction(editor, this.#contexts.vars, redactedValue).members(vars)
    if (this.#findings.isEmpty) return editor.isChanged ? editor.edited(bracket, '') : line
    const found = this.#findings.member()
    if (privacy === -1) return editor.edited(bracket, `"privacy":${asciiJson(found)}`)
    editor.at = privacy
    editor.replace(privacy, editor.skip(), found)
    return editor.edited(bracket, '')
  }

  /**
   * Returns true for a record without bodies, header fields and variables whose few other texts no rule can match.
   * Searching for these texts is four times as fast as reading the record.
   */
  #isPlain(line: string): boolean {
    if (this.#needsReading || !line.startsWith('{"') || !line.endsWith('}') || line.includes('\\'))
      return false
    const headers = new Suspects(line, this.#contexts.headers.rules)
    const query = new Suspects(line, this.#contexts.query.rules)
    SEARCHED.lastIndex = 0
    while (SEARCHED.test(line)) {
      const start = SEARCHED.lastIndex
      if (line.charCodeAt(start - 1) !== QUOTE || line.charCodeAt(start - 2) !== COLON) return false
      const end = line.indexOf('"', start)
      if (end === -1 || headers.include(start, end) || query.include(start, end)) return false
      SEARCHED.lastIndex = end
    }
    return true
  }

  /** Redacts the bodies. Returns the positions of their content types. */
  #bodies(editor: LineEditor, body: number, hdr: number, types: readonly [number, number]): number[] {
    const { rules } = this.#contexts.body
    const found: number[] = []
    editor.at = body
    for (let more = editor.enter(); more; more = editor.next()) {
      const name = editor.memberName()
      const [text, base64, sha256, ct, truncated] = editor.positions(BODY_MEMBERS)
      const isCut = editor.line.startsWith('true', truncated)
      found.push(ct)
      if (rules.isEmpty) continue
      if (base64 !== -1 && rules.isProtecting) {
        // Binary content cannot be checked by any rule.
        editor.deleteNamed('base64', base64)
        this.#findings.fail('binary')
      }
      let type = ct === -1 ? editor.positionIn(editor.positionIn(hdr, name), 'content-type') : ct
      if (type === -1) type = types[name.startsWith('req') ? 0 : 1]
      const contentType = type === -1 ? '' : String(editor.valueAt(type))
      const isChanged = text !== -1 && this.#text(editor, text, contentType, isCut)
      // A digest of the original body would allow guesses about hidden values, or about content that no rule can
      // read, to be confirmed.
      const isUnread = rules.isProtecting && (text === -1 || isCut)
      if (sha256 !== -1 && (isChanged || isUnread)) editor.deleteNamed('sha256', sha256)
    }
    return found
  }

  /** Redacts the text of a body. Returns true if it changes. */
  #text(editor: LineEditor, start: number, contentType: string, isCut: boolean): boolean {
    const text = textIn(editor.valueAt(start))
    const context = isCut ? { ...this.#contexts.body, isCut } : this.#contexts.body
    const pieces = redactedText(text, scansOf(text, contentType), context)
    if (pieces === null) return false
    editor.replaceAt(start, textOf(pieces))
    return true
  }
}

type Redact = typeof redactedValue

/** Redacts values of one area of a record. */
class ValueRedaction {
  readonly #editor: LineEditor
  readonly #context: TextContext
  readonly #redact: Redact
  readonly #suspects: Suspects
  readonly #hasRegex: boolean

  constructor(editor: LineEditor, context: TextContext, redact: Redact) {
    this.#editor = editor
    this.#context = context
    this.#redact = redact
    this.#suspects = new Suspects(editor.line, context.rules)
    this.#hasRegex = context.rules.regexes.length > 0
  }

  /** Redacts the members of each object in an object. */
  regions(start: number): void {
    this.#editor.at = start
    for (let more = this.#editor.enter(); more; more = this.#editor.next()) this.members(this.#editor.at)
  }

  /** Redacts the members of an object. */
  members(start: number): void {
    const editor = this.#editor
    editor.at = start
    for (let more = editor.enter(); more; more = editor.next()) {
      const { memberStart, nameEnd } = editor
      const name = this.#suspects.include(memberStart + 1, nameEnd) ? editor.memberName() : null
      this.#value(memberStart, name)
    }
  }

  /**
   * Redacts one member of a record. @param name Name for the rules, null if there are none for it. @param start
   * Position of the value, or -1.
   */
  member(member: string, start: number, name: string | null): void {
    if (start === -1) return
    this.#editor.at = start
    this.#value(this.#editor.startOf(member, start), name)
  }

  /** Redacts the value at the editor's position. It may be a list of texts. */
  #value(memberStart: number, name: string | null): void {
    const editor = this.#editor
    const start = editor.at
    const end = editor.skip()
    const rule = name === null ? null : takingRule(name, this.#context)
    const isText = editor.line.charCodeAt(start) === QUOTE
    if (isText && rule === null && !this.#hasRegex && !this.#suspects.include(start + 1, end - 1)) return
    const value = editor.value(start, end)
    const texts = Array.isArray(value) ? value.map(textIn) : [textIn(value)]
    const left = texts.flatMap((text) => this.#left(text, rule) ?? [])
    if (left.length === 0 && texts.length > 0) editor.delete(memberStart, end)
    else if (left.length < texts.length || left.some((text, i) => text !== texts[i]))
      editor.replace(start, end, Array.isArray(value) ? left : left[0])
  }

  /** Returns the redacted text, or null if it is deleted. */
  #left(text: string, rule: NameRule | null): string | null {
    const found = { text, written: text, isUnquoted: false, isContainer: false }
    const pieces = rule === null ? this.#redact(text, this.#context) : takenValue(rule, found, this.#context)
    if (pieces !== null) return textOf(pieces)
    return rule === null ? text : null
  }
}

/** Redacts a query. */
function redactedQuery(text: string, context: TextContext): ReturnType<Redact> {
  return redactedText(text, [scanForm], context)
}

/** Redacts a header field value. Fields such as Referer and Location may contain a query. */
function redactedField(text: string, context: TextContext): ReturnType<Redact> {
  const question = text.indexOf('?')
  if (question === -1 || text.indexOf('=', question) === -1) return redactedValue(text, context)
  return redactedText(text, [scanUrl], context)
}

function textIn(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new Error('a text is expected')
}
