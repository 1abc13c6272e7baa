import { countText } from '../output/text.js'

/** Severity of a finding. `security` and `left-out` mean that the document does less than the source. */
type FindingKind = 'security' | 'left-out' | 'note'

/** A part of the source that the document does not contain, or contains with a difference. */
export interface Finding {
  readonly kind: FindingKind
  /** Directive or key, with its parent if that helps to find it. */
  readonly what: string
  /** `file:line`. */
  readonly place: string
  readonly reason: string
  /** Manual alternative in Sluice. */
  readonly remedy?: string | undefined
}

/** Text of a finding without its kind. */
export type FindingText = Omit<Finding, 'kind'>

/** Maximum number of findings that are kept; further ones are only counted. */
const MAX_FINDINGS = 5000
/** Maximum number of characters of a name from the source. */
const MAX_WHAT = 120
const HEADINGS: readonly (readonly [FindingKind, string])[] = [
  ['security', 'Security: check these before you deploy'],
  ['left-out', 'Not mapped'],
  ['note', 'Notes'],
]

/** Result of an import: counts of directives or keys, and findings. */
export class ImportReport {
  /** Directives or keys that the document contains. */
  mapped = 0
  /** Directives or keys without an effect on requests in Sluice, such as `worker_processes`. */
  notNeeded = 0
  readonly #counts: Record<FindingKind, number> = { security: 0, 'left-out': 0, note: 0 }
  readonly #findings: Finding[] = []
  readonly #seen = new Set<string>()

  /** Reports a protection of the source that the document does not have. */
  security(finding: FindingText): void {
    this.#add({ kind: 'security', ...finding })
  }

  /** Reports a directive or key that was not mapped. */
  leaveOut(finding: FindingText): void {
    this.#add({ kind: 'left-out', ...finding })
  }

  /** Reports a choice that the import made, or a small difference. */
  note(finding: FindingText): void {
    this.#add({ kind: 'note', ...finding })
  }

  /** Number of directives or keys that were not mapped. */
  get leftOut(): number {
    return this.#counts.security + this.#counts['left-out']
  }

  /** Returns the report as data. */
  value(): object {
    const { mapped, notNeeded, leftOut } = this
    const findings = HEADINGS.flatMap(([kind]) => this.#findings.filter((one) => one.kind === kind))
    return { mapped, notNeeded, leftOut, findings }
  }

  /** Returns the report as lines of text. */
  lines(): string[] {
    const { mapped, notNeeded, leftOut } = this
    const lines = [`${mapped} mapped, ${leftOut} not mapped, ${notNeeded} not needed`]
    for (const [kind, heading] of HEADINGS) {
      const found = this.#findings.filter((one) => one.kind === kind)
      if (found.length > 0) lines.push('', `${heading}:`, ...found.flatMap(findingLines))
      const more = this.#counts[kind] - found.length
      if (more > 0) lines.push(`  … and ${countText(more, 'more finding')}`)
    }
    return lines
  }

  #add(finding: Finding): void {
    const { kind, what, place, reason } = finding
    const key = `${kind}\n${place}\n${what}\n${reason}`
    if (this.#seen.has(key)) return
    this.#counts[kind]++
    if (this.#findings.length >= MAX_FINDINGS) return
    this.#seen.add(key)
    this.#findings.push(
      what.length > MAX_WHAT ? { ...finding, what: `${what.slice(0, MAX_WHAT)}…` } : finding,
    )
  }
}

function findingLines({ what, place, reason, remedy }: Finding): string[] {
  const line = `  ${place}: ${what}: ${reason}`
  return remedy === undefined ? [line] : [line, `    ${remedy}`]
}
