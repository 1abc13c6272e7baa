import { readYaml } from '@sluice/core/yaml'
import { compareDiagnostics, type Diagnostic } from '../diagnostic/diagnostic.js'
import { formatPath } from '../diagnostic/document-path.js'
import { suggestion } from '../diagnostic/spelling.js'
import type { DocumentSource } from '../file/document-file.js'
import { type LoadOptions, loadDocument } from '../load/load-document.js'
import { readDocument } from '../read/read-document.js'
import type { Inspection } from '../semantics/inspection.js'
import { DisabledRules } from './disabled-rules.js'
import type { LintRule, LintSeverity, RuleFinding } from './rules/rule.js'
import { INVALID, LINT_RULES, OTHER_WARNING } from './rules/rules.js'

/** A finding of `gw lint`, with its position. */
export interface LintFinding extends Omit<Diagnostic, 'severity' | 'rule'> {
  readonly rule: string
  readonly severity: LintSeverity
}

/** Options for checking a document. */
export interface LintOptions extends Omit<LoadOptions, 'examine'> {
  /** Ids of rules that are not checked. */
  readonly disabled?: ReadonlySet<string>
  /** True if rules may use the network. */
  readonly isOnline?: boolean
}

/**
 * Checks a document with all rules, and returns their findings by position. The errors of an invalid document have the
 * rule `invalid`; the rules are then not checked.
 */
export async function lintDocument(
  source: DocumentSource,
  options: LintOptions,
): Promise<readonly LintFinding[]> {
  let inspection: Inspection | null = null
  const examine = (found: Inspection): void => {
    inspection = found
  }
  const result = loadDocument(source, { ...options, examine })
  if (!result.ok) {
    return result.diagnostics.map((one) =>
      one.severity === 'error'
        ? { ...one, severity: 'error', rule: INVALID }
        : { ...one, rule: one.rule ?? OTHER_WARNING },
    )
  }
  return inspection === null ? [] : await findingsOf(source, inspection, options)
}

async function findingsOf(
  source: DocumentSource,
  inspection: Inspection,
  { disabled = new Set(), isOnline = false }: LintOptions,
): Promise<readonly LintFinding[]> {
  const { report, catalog } = inspection
  const subject = { ...inspection, written: readDocument(source.text, catalog).value }
  const disabledRules = new DisabledRules(readYaml(source.text).value, source.text)
  const findings: LintFinding[] = unknownNames(disabledRules, source)
  const add = ({ id, severity }: Pick<LintRule, 'id' | 'severity'>, finding: RuleFinding): void => {
    const { line, column, written } = report.locate(finding)
    const scopes = (finding.scopes ?? []).map((path) => report.locate({ path }).written)
    if (disabled.has(id) || disabledRules.has(id, line, [written, ...scopes])) return
    const { message, remedy } = finding
    findings.push({
      rule: id,
      severity,
      file: source.name,
      line,
      column,
      path: formatPath(written),
      message,
      remedy,
    })
  }
  for (const warning of report.warnings)
    add({ id: warning.rule ?? OTHER_WARNING, severity: 'warning' }, warning)
  for (const rule of LINT_RULES) {
    if (disabled.has(rule.id)) continue
    for (const finding of rule.check?.(subject) ?? []) add(rule, finding)
    if (isOnline) for (const finding of (await rule.checkOnline?.(subject)) ?? []) add(rule, finding)
  }
  return withoutDuplicates(findings)
}

/** Reports unknown rule names in `x-lint`, because they disable nothing. */
function unknownNames(disabledRules: DisabledRules, { name: file, text }: DocumentSource): LintFinding[] {
  const known = LINT_RULES.map(({ id }) => id)
  const yaml = readYaml(text)
  return disabledRules.names().flatMap(({ name, path }): LintFinding[] => {
    if (known.includes(name)) return []
    const { line, column } = yaml.positionOf(path, 'value')
    const remedy = suggestion(name, known, 'list the rules with gw lint --rules')
    return [
      {
        rule: INVALID,
        severity: 'warning',
        file,
        line,
        column,
        path: formatPath(path),
        message: `there is no lint rule '${name}'`,
        remedy,
      },
    ]
  })
}

/** Sorts findings by position. Aliases cause several findings at one position. */
function withoutDuplicates(findings: readonly LintFinding[]): readonly LintFinding[] {
  const compare = (a: LintFinding, b: LintFinding): number =>
    compareDiagnostics(a as unknown as Diagnostic, b as unknown as Diagnostic)
  const sorted = [...findings].sort(compare)
  return sorted.filter((one, i) => i === 0 || compare(sorted[i - 1]!, one) !== 0)
}
