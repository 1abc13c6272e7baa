import type { LocatedCase } from '@sluice/config'
import type { Mismatch } from './matching.js'

/** Unmet expectations of a request. */
export interface CaseFailure {
  /** Request, with its name or number if the case has several. */
  readonly step: string
  readonly mismatches: readonly Mismatch[]
  /** Facts that help to find the cause. */
  readonly notes: readonly string[]
}

/** Result of a case. */
export interface CaseOutcome {
  readonly file: string
  readonly line: number
  readonly name: string
  readonly status: 'passed' | 'failed' | 'skipped'
  /** Real time in milliseconds. */
  readonly ms: number
  readonly failures: readonly CaseFailure[]
  /** Reason why the case, or some of its expectations, were skipped; empty if they were not. */
  readonly skipped: string
}

/** A case with its file. */
export interface FiledCase extends LocatedCase {
  readonly file: string
}

/** Returns the text that identifies a request of a case. */
export function stepTitle({ steps }: LocatedCase, i: number, round: number): string {
  const { request, name, repeat = 1 } = steps[i]!
  const text = typeof request === 'string' ? request : `${request.method ?? 'GET'} ${request.path}`
  const label = steps.length === 1 && name === undefined ? '' : `${name ?? `step ${i + 1}`}: `
  return `${label}${text}${repeat === 1 ? '' : `, request ${round + 1} of ${repeat}`}`
}
