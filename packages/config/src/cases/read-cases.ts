import { isIP } from 'node:net'
import { isIpAddress } from '@sluice/core'
import { readYaml, type YamlSource } from '@sluice/core/yaml'
import { violationsOf } from '../check/violation.js'
import { wordingOf } from '../check/wording.js'
import { compareDiagnostics, type Diagnostic } from '../diagnostic/diagnostic.js'
import { type DocumentPath, formatPath } from '../diagnostic/document-path.js'
import type { Issue } from '../diagnostic/issue.js'
import { type CaseFile, caseFileSchema, type WrittenCase, type WrittenStep } from './case-schema.js'

/** A case with the line on which it starts; 1 in modules. */
export interface LocatedCase extends Omit<WrittenCase, 'steps'> {
  readonly steps: readonly WrittenStep[]
  readonly line: number
}

/** The cases of a file, or all its errors. */
export type CasesResult =
  | { readonly ok: true; readonly defaults: CaseFile['defaults']; readonly cases: readonly LocatedCase[] }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

/** Maximum number of errors of one file that are reported. */
const MAX_DIAGNOSTICS = 100

/** Reads test cases from YAML. Never throws. */
export function readCases(text: string, file: string): CasesResult {
  const source = readYaml(text)
  const located = { severity: 'error', file, path: '' } as const
  const broken = source.issues.map(({ offset, message, remedy }) => ({
    ...{ ...located, message, remedy },
    ...source.positionOfOffset(offset),
  }))
  return broken.length > 0 ? { ok: false, diagnostics: broken } : checkCases(source.value, file, source)
}

/**
 * Checks cases that were read from a file.
 * @param source positions in the file; null for values of a module
 */
export function checkCases(value: unknown, file: string, source: YamlSource | null = null): CasesResult {
  const diagnostics: Diagnostic[] = []
  const report = (path: DocumentPath, { message, remedy }: Issue, at: 'key' | 'value' = 'value'): void => {
    const { line, column } = source?.positionOf(path, at) ?? { line: 1, column: 1 }
    const where = source === null && path.length > 0 ? `${formatPath(path)}: ` : ''
    diagnostics.push({
      ...{ severity: 'error', file, line, column, path: formatPath(path) },
      ...{ message: where + message, remedy },
    })
  }
  for (const violation of violationsOf(caseFileSchema, value).slice(0, MAX_DIAGNOSTICS)) {
    const { path, key, keyword } = violation
    const isAbsence = keyword === 'required' || keyword === 'choice'
    report(
      key === null ? path : [...path, key],
      wordingOf(violation, null),
      key !== null || isAbsence ? 'key' : 'value',
    )
  }
  if (diagnostics.length === 0) checkMeaning(value as CaseFile, report)
  if (diagnostics.length > 0)
    return { ok: false, diagnostics: diagnostics.sort(compareDiagnostics).slice(0, MAX_DIAGNOSTICS) }
  const { defaults, cases } = value as CaseFile
  const located = cases.map((one, i) => ({
    ...one,
    steps: one.steps ?? [stepOf(one)],
    line: source?.positionOf(['cases', i], 'value').line ?? 1,
  }))
  return { ok: true, defaults, cases: located }
}

/** Returns the only step of a case that is written without `steps`. */
function stepOf({ request, advance, repeat, expect }: WrittenCase): WrittenStep {
  return {
    request: request!,
    ...(advance === undefined ? {} : { advance }),
    ...(repeat === undefined ? {} : { repeat }),
    ...(expect === undefined ? {} : { expect }),
  }
}

type ReportIssue = (path: DocumentPath, issue: Issue, at?: 'key' | 'value') => void

function checkMeaning({ defaults, cases }: CaseFile, report: ReportIssue): void {
  const known = new Set<string>()
  checkTime(['defaults', 'at'], defaults?.at, report)
  for (const [i, one] of cases.entries()) {
    const path = ['cases', i]
    if (known.has(one.name))
      report([...path, 'name'], {
        message: `two cases have the name '${one.name}'`,
        remedy: 'rename one of them',
      })
    known.add(one.name)
    checkTime([...path, 'at'], one.at, report)
    checkRequest([...path, 'request'], one.request, report)
    for (const [k, step] of (one.steps ?? []).entries())
      checkRequest([...path, 'steps', k, 'request'], step.request, report)
    for (const key of ['expect', 'advance', 'repeat'] as const)
      if (one.steps !== undefined && one[key] !== undefined)
        report([...path, key], { message: `'${key}' has no request`, remedy: `write it under a step` }, 'key')
  }
}

function checkTime(path: DocumentPath, text: string | undefined, report: ReportIssue): void {
  if (text !== undefined && Number.isNaN(Date.parse(text)))
    report(path, { message: `'${text}' is not a valid time`, remedy: 'correct the date' })
}

function checkRequest(path: DocumentPath, request: WrittenCase['request'], report: ReportIssue): void {
  const clientIp = typeof request === 'object' ? request.clientIp : undefined
  if (clientIp !== undefined && (isIP(clientIp) === 0 || !isIpAddress(clientIp)))
    report([...path, 'clientIp'], {
      message: `'${clientIp}' is not an IP address`,
      remedy: 'write for example 203.0.113.7',
    })
}
