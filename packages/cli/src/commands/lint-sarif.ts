import { isAbsolute, relative, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { LINT_RULES, type LintFinding, type LintSeverity } from '@sluice/config/authoring'
import { version } from '../output/version.js'

const LEVELS: Readonly<Record<LintSeverity, string>> = { error: 'error', warning: 'warning', info: 'note' }
const INVALID = {
  id: 'invalid',
  severity: 'error',
  title: 'The document is not valid.',
  why: 'The message describes the problem and the fix.',
} as const
const RULES = [...LINT_RULES, INVALID]

/** Returns findings as a SARIF 2.1.0 log, which code hosts and editors read. */
export function sarifLog(findings: readonly LintFinding[]): object {
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'gw lint', version: version(), rules: RULES.map(descriptorOf) } },
        columnKind: 'utf16CodeUnits',
        results: findings.map(resultOf),
      },
    ],
  }
}

function descriptorOf({
  id,
  severity,
  title,
  why,
}: Pick<(typeof LINT_RULES)[number], 'id' | 'severity' | 'title' | 'why'>): object {
  return {
    id,
    shortDescription: { text: title },
    fullDescription: { text: why },
    help: { text: `Run gw lint --explain ${id} for examples.` },
    defaultConfiguration: { level: LEVELS[severity] },
  }
}

function resultOf({ rule, severity, file, line, column, message, remedy }: LintFinding): object {
  return {
    ruleId: rule,
    ruleIndex: RULES.findIndex(({ id }) => id === rule),
    level: LEVELS[severity],
    message: { text: `${message} (${remedy})` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(file) },
          region: { startLine: line, startColumn: column },
        },
      },
    ],
  }
}

/** Returns a relative URI for files below the working directory, as code hosts expect, or else an absolute one. */
function uriOf(file: string): string {
  const path = relative('', file)
  if (path.startsWith('..') || isAbsolute(path)) return pathToFileURL(file).href
  return path.split(sep).map(encodeURIComponent).join('/')
}
