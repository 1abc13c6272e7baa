import type { DocumentPath } from '../../diagnostic/document-path.js'
import type { Inspection } from '../../semantics/inspection.js'

/** Severity of a lint finding, the most severe first. */
export const SEVERITIES = ['error', 'warning', 'info'] as const
export type LintSeverity = (typeof SEVERITIES)[number]

/** A finding of a rule, at a path of the document. */
export interface RuleFinding {
  readonly path: DocumentPath
  /** Position to report: the key or the value. Default: the value. */
  readonly at?: 'key' | 'value'
  readonly message: string
  readonly remedy: string
  /** Other parts in which `x-lint` can disable the rule, such as the definition of a shared policy. */
  readonly scopes?: readonly DocumentPath[]
}

/** A valid document that rules check. */
export interface LintSubject extends Inspection {
  /** The document as written, with references, in its current form. */
  readonly written: unknown
}

/** A rule of `gw lint`. Rules without a check are warnings of `gw validate`, which name their rule. */
export interface LintRule {
  readonly id: string
  readonly severity: LintSeverity
  /** The problem in one sentence. */
  readonly title: string
  /** Explanation: the consequences, and what to do. */
  readonly why: string
  /** Excerpt of a document with a finding. */
  readonly bad: string
  /** Excerpt without one. */
  readonly good: string
  check?(subject: LintSubject): readonly RuleFinding[]
  /** Checks that need the network, for `--online`. */
  checkOnline?(subject: LintSubject): Promise<readonly RuleFinding[]>
}
