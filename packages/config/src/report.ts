import { compareDiagnostics, type Diagnostic } from './diagnostic.js'
import { type DocumentPath, formatPath } from './document-path.js'
import type { Flaw } from './flaw.js'
import { flagAt, type Overrides } from './overrides.js'
import type { ReferencedLeaves } from './reference/referenced-leaf.js'
import type { YamlSource } from './source/yaml-source.js'

/** A mistake or a warning at a position of the document. */
interface Finding extends Flaw {
  readonly path: DocumentPath
  /** Whether it is about the key or the value; the value when absent. */
  readonly at?: 'key' | 'value'
  readonly severity?: 'error' | 'warning'
  /** True when it may be an error only because something else could not be read. */
  readonly presumesAll?: true
}

/** Most diagnostics of one document. */
const MAX_DIAGNOSTICS = 100

/** Collects what is wrong with a document and reports it in the order of the text. */
export class Report {
  readonly #source: YamlSource
  readonly #file: string
  readonly #overrides: Overrides
  readonly #findings: Finding[] = []
  /** Every path with an error at it or below it. */
  readonly #unsound = new Set<string>()
  #leaves: ReferencedLeaves = new Map()

  constructor(source: YamlSource, file: string, overrides: Overrides) {
    this.#source = source
    this.#file = file
    this.#overrides = overrides
  }

  /** From now on the texts with references are known, and their values are not shown. */
  conceal(leaves: ReferencedLeaves): void {
    this.#leaves = leaves
  }

  /** The references in the text at a path, as written, or null when there are none. */
  referencesAt(path: DocumentPath): string | null {
    return this.#leaves.get(formatPath(path))?.references || null
  }

  /** A value of the document as a message may show it: in quotes, or the reference that it came from. */
  quote(value: string, path: DocumentPath): string {
    return this.referencesAt(path) ?? `'${value}'`
  }

  add(finding: Finding): void {
    this.#findings.push(finding)
    if (finding.severity === 'warning') return
    for (let i = 0; i <= finding.path.length; i++) this.#unsound.add(formatPath(finding.path.slice(0, i)))
  }

  /** Whether nothing is wrong at a path and below it, as far as is known. */
  isSound(path: DocumentPath): boolean {
    return !this.#unsound.has(formatPath(path))
  }

  get hasErrors(): boolean {
    return this.#source.flaws.length > 0 || this.#unsound.size > 0
  }

  /** True if something is wrong with the document on any machine. */
  get hasDocumentErrors(): boolean {
    const isError = ({ severity, ofMachine }: Finding) => severity !== 'warning' && ofMachine === undefined
    return this.#source.flaws.length > 0 || this.#findings.some(isError)
  }

  /** Everything that was found, by position; the same thing at one position (an alias brings it twice) only once. */
  diagnostics(): readonly Diagnostic[] {
    const all = [...this.#ofText(), ...this.#ofMeaning()].sort(compareDiagnostics)
    const distinct = all.filter(
      (diagnostic, i) => i === 0 || compareDiagnostics(all[i - 1]!, diagnostic) !== 0,
    )
    if (distinct.length <= MAX_DIAGNOSTICS) return distinct
    const last = distinct[MAX_DIAGNOSTICS - 1]!
    const end = {
      message: 'there are more mistakes, which are not shown',
      remedy: 'correct those above first',
    }
    return [...distinct.slice(0, MAX_DIAGNOSTICS), { ...last, ...end }]
  }

  #ofText(): Diagnostic[] {
    return this.#source.flaws.slice(0, MAX_DIAGNOSTICS + 1).map(({ offset, message, remedy }) => {
      const { line, column } = this.#source.positionOfOffset(offset)
      return { severity: 'error', file: this.#file, line, column, path: '', message, remedy }
    })
  }

  /** Where the text stops being YAML, the parser guesses on; what it guesses is not held against anybody. */
  #ofMeaning(): Diagnostic[] {
    const end = this.#source.brokenFrom
    const unread = new Set(this.#source.flaws.map((flaw) => flaw.offset))
    return this.#findings.flatMap((finding) => {
      const position = this.#positionOf(finding)
      if (unread.has(position.offset)) return []
      if (end !== null && (finding.presumesAll || position.offset >= end)) return []
      const { path, severity = 'error', remedy, ofMachine } = finding
      const { line, column } = position
      const message = this.#attributed(finding)
      const diagnostic = { severity, file: this.#file, line, column, path: formatPath(path), message, remedy }
      return [ofMachine === undefined ? diagnostic : { ...diagnostic, ofMachine }]
    })
  }

  /** The position is that of the document; what does not stand there is reported as the command line's. */
  #attributed({ path, message }: Finding): string {
    const flag = flagAt(path, this.#overrides)
    return flag === null ? message : `${flag}: ${message}`
  }

  #positionOf({ path, at = 'value', offset }: Finding) {
    const position = this.#source.positionOf(path, at)
    if (offset === undefined || position.literalOffset === null) return position
    return this.#source.positionOfOffset(position.literalOffset + offset)
  }
}
