import { readPlugins } from '@sluice/config'
import {
  LINT_RULES,
  type LintFinding,
  type LintOptions,
  lintDocument,
  SEVERITIES,
} from '@sluice/config/authoring'
import { defaultDocument } from '../input/default-document.js'
import { readDocument } from '../input/document.js'
import { catalog } from '../input/policy-catalog.js'
import { EXIT, type ExitCode } from '../output/failure.js'
import { type Format, print, printData, printTable, printValue, say } from '../output/output.js'
import { countText } from '../output/text.js'
import { ruleNamed, rulePage } from './lint-rules.js'
import { sarifLog } from './lint-sarif.js'

interface LintCommandOptions {
  readonly config?: readonly string[]
  readonly disable?: readonly string[]
  readonly failOn: LintFinding['severity']
  readonly online?: boolean
  readonly rules?: boolean
  readonly explain?: string
  readonly output: Format | 'sarif'
}

/** Finds risky, slow or unused settings in valid documents, and prints them with position and suggested fix. */
export async function lint(options: LintCommandOptions, ...operands: readonly string[]): Promise<ExitCode> {
  if (options.explain !== undefined || options.rules === true) return describe(options)
  const named = new Set([...operands, ...(options.config ?? [])])
  const files = named.size > 0 ? [...named] : [defaultDocument('gw lint')]
  const disabled = new Set((options.disable ?? []).map((name) => ruleNamed(name).id))
  const findings: LintFinding[] = []
  for (const file of files) {
    findings.push(...(await findingsIn(file, { disabled, isOnline: options.online === true })))
  }
  await printFindings(findings, files, options.output)
  if (findings.some(isInvalid)) return EXIT.invalid
  const worst = SEVERITIES.slice(0, SEVERITIES.indexOf(options.failOn) + 1)
  return findings.some(({ severity }) => worst.includes(severity)) ? EXIT.differences : EXIT.ok
}

async function findingsIn(
  file: string,
  choice: Pick<LintOptions, 'disabled' | 'isOnline'>,
): Promise<readonly LintFinding[]> {
  const source = await readDocument(file)
  const plugins = await readPlugins(source, catalog)
  const settings = { ...choice, catalog, env: process.env, plugins }
  const findings = await lintDocument(source, settings)
  if (!findings.some(isInvalid)) return findings
  // Errors are explained with all policies.
  await catalog.load?.(() => true)
  return lintDocument(source, settings)
}

/** Prints one rule or the list of rules. */
async function describe({ explain, output }: LintCommandOptions): Promise<ExitCode> {
  const isValue = output === 'json' || output === 'yaml'
  if (explain !== undefined) {
    const rule = ruleNamed(explain)
    if (isValue) await printValue(rule, output)
    else print(rulePage(rule))
  } else if (isValue) await printValue({ rules: LINT_RULES }, output)
  else
    printTable(
      ['RULE', 'SEVERITY', 'FINDS'],
      LINT_RULES.map(({ id, severity, title }) => [id, severity, title]),
    )
  return EXIT.ok
}

async function printFindings(
  findings: readonly LintFinding[],
  files: readonly string[],
  output: LintCommandOptions['output'],
): Promise<void> {
  if (output === 'sarif') {
    printData(`${JSON.stringify(sarifLog(findings), null, 2)}\n`)
    return
  }
  if (output === 'json' || output === 'yaml') {
    await printValue({ documents: files, findings }, output)
    return
  }
  for (const { file, line, column, severity, rule, message, remedy } of findings)
    print(`${file}:${line}:${column}: ${severity} ${rule}: ${message} (${remedy})`)
  const counts = SEVERITIES.map((severity) => findings.filter((one) => one.severity === severity).length)
  const parts = SEVERITIES.flatMap((severity, i) =>
    counts[i] === 0 ? [] : [countText(counts[i]!, severity)],
  )
  const found = parts.length === 0 ? 'no findings' : parts.join(', ')
  say(`${countText(files.length, 'document')} checked: ${found}`)
}

function isInvalid({ rule, severity }: LintFinding): boolean {
  return rule === 'invalid' && severity === 'error'
}
