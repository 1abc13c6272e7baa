import { compareDiagnostics, type Diagnostic } from '../diagnostic/diagnostic.js'
import { type DocumentPath, formatPath } from '../diagnostic/document-path.js'
import type { Issue } from '../diagnostic/issue.js'
import { flagAt, type Overrides } from '../read/overrides.js'
import type { WrittenDocument } from '../read/read-document.js'

/** An error or warning at a location of the document. */
export interface Finding extends Issue {
  readonly path: DocumentPath
  /** Rule of `gw lint` that a warning belongs to. */
  readonly rule?: string
  /** Position to report: the key or the value. Default: the value. */
  readonly at?: 'key' | 'value'
  readonly severity?: 'error' | 'warning'
  /** Set if the error may only be a consequence of text that could not be parsed. */
  readonly presumesAll?: true
}

/** Strings whose values must not be shown, by formatted path, with the references as written. */
type ConcealedStrings = ReadonlyMap<string, { readonly references: string }>

/** Maximum number of diagnostics per document. */
const MAX_DIAGNOSTICS = 100

/** Collects the problems of a document and reports them in the order of the text. */
export class Report {
  readonly #source: WrittenDocument
  readonly #file: string
  readonly #overrides: Overrides
  readonly #findings: Finding[] = []
  /** Paths with an error at or below them. */
  readonly #invalid = new Set<string>()
  #leaves: ConcealedStrings = new Map()

  constructor(source: WrittenDocument, file: string, overrides: Overrides) {
    this.#source = source
    this.#file = file
    this.#overrides = overrides
  }

  /** Sets the strings with references, whose values must not be shown. */
  conceal(leaves: ConcealedStrings): void {
    this.#leaves = leaves
  }

  /** Returns the references in the string at a path, as written, or null. */
  referencesAt(path: DocumentPath): string | null {
    return this.#leaves.get(formatPath(path))?.references || null
  }

  /** Formats a value for a message: in quotes, or as the reference it came from. */
  quote(value: string, path: DocumentPath): string {
    return this.referencesAt(path) ?? `'${value}'`
  }

  add(finding: Finding): void {
    this.#findings.push(finding)
    if (finding.severity === 'warning') return
    for (let i = 0; i <= finding.path.length; i++) this.#invalid.add(formatPath(finding.path.slice(0, i)))
  }

  /** True if no error has been found at or below a path so far. */
  isValid(path: DocumentPath): boolean {
    return !this.#invalid.has(formatPath(path))
  }

  get hasErrors(): boolean {
    return this.#source.issues.length > 0 || this.#invalid.size > 0
  }

  /** True if the document has errors that do not depend on the machine. */
  get hasDocumentErrors(): boolean {
    const isError = ({ severity, ofMachine }: Finding) => severity !== 'warning' && ofMachine === undefined
    return this.#source.issues.length > 0 || this.#findings.some(isError)
  }

  /** Returns the warnings that have been added, in that order. */
  get warnings(): readonly Finding[] {
    return this.#findings.filter(({ severity }) => severity === 'warning')
  }

  /** Returns the position of a finding in the text, and its path as written there. */
  locate(finding: Pick<Finding, 'path' | 'at' | 'offset'>): {
    readonly line: number
    readonly column: number
    readonly written: DocumentPath
  } {
    const { line, column } = this.#positionOf(finding)
    return { line, column, written: this.#source.writtenPath(finding.path) }
  }

  /** Returns all findings by position. Duplicates at one position, which aliases cause, are removed. */
  diagnostics(): readonly Diagnostic[] {
    const all = [...this.#ofText(), ...this.#ofContent()].sort(compareDiagnostics)
    const distinct = all.filter(
      (diagnostic, i) => i === 0 || compareDiagnostics(all[i - 1]!, diagnostic) !== 0,
    )
    if (distinct.length <= MAX_DIAGNOSTICS) return distinct
    // Warnings must not displace errors.
    const isWarning = ({ severity }: Diagnostic) => severity === 'warning'
    const shown = [...distinct.filter((one) => !isWarning(one)), ...distinct.filter(isWarning)]
    const last = shown[MAX_DIAGNOSTICS - 1]!
    const message = `there are more ${isWarning(last) ? 'warnings' : 'errors'}, which are not shown`
    return [...shown.slice(0, MAX_DIAGNOSTICS), { ...last, message, remedy: 'fix the ones above first' }]
  }

  #ofText(): Diagnostic[] {
    return this.#source.issues.slice(0, MAX_DIAGNOSTICS + 1).map(({ offset, message, remedy }) => {
      const { line, column } = this.#source.positionOfOffset(offset)
      return { severity: 'error', file: this.#file, line, column, path: '', message, remedy }
    })
  }

  /**
   * Returns the findings about the content. After a syntax error the parser only guesses, so findings beyond
   * it are dropped.
   */
  #ofContent(): Diagnostic[] {
    const end = this.#source.brokenFrom
    const unread = new Set(this.#source.issues.map((issue) => issue.offset))
    return this.#findings.flatMap((finding) => {
      const position = this.#positionOf(finding)
      if (unread.has(position.offset)) return []
      if (end !== null && (finding.presumesAll || position.offset >= end)) return []
      const { path, severity = 'error', rule, remedy, ofMachine } = finding
      const { line, column } = position
      const message = this.#attributed(finding)
      const written = formatPath(this.#source.writtenPath(path))
      const named = rule === undefined ? {} : { rule }
      const diagnostic = {
        severity,
        ...named,
        file: this.#file,
        line,
        column,
        path: written,
        message,
        remedy,
      }
      return [ofMachine === undefined ? diagnostic : { ...diagnostic, ofMachine }]
    })
  }

  /** Adds the command line flag to the message if the value came from it. */
  #attributed({ path, message }: Finding): string {
    const flag = flagAt(path, this.#overrides)
    return flag === null ? message : `${flag}: ${message}`
  }

  #positionOf({ path, at = 'value', offset }: Pick<Finding, 'path' | 'at' | 'offset'>) {
    const position = this.#source.positionOf(path, at)
    if (offset === undefined || position.literalOffset === null) return position
    return this.#source.positionOfOffset(position.literalOffset + offset)
  }
}
