import { writeFileSync } from 'node:fs'
import {
  type ConfigBundle,
  type Diagnostic,
  formatDiagnostic,
  policyDiagnostics,
  resolvePlan,
} from '@sluice/config'
import { findCaseFiles, type LoadedFile, loadCaseFile } from '../cases/case-files.js'
import { type CaseContext, CaseRunner } from '../cases/case-runner.js'
import { Coverage } from '../cases/coverage.js'
import type { CaseOutcome, FiledCase } from '../cases/outcome.js'
import { runRemotely } from '../cases/remote-runner.js'
import { countsOf, formatReport, type ReporterName, type RunReport } from '../cases/reporters.js'
import { Snapshots } from '../cases/snapshots.js'
import { watchAndRun } from '../cases/watch.js'
import { checkDocument, readDocument } from '../input/document.js'
import type { DocumentOptions, OutputOptions } from '../input/options.js'
import { catalog } from '../input/policy-catalog.js'
import { EXIT, Failure, messageOf, usageError } from '../output/failure.js'
import { complain, hasColors, print, printText, printValue, say } from '../output/output.js'
import { countText } from '../output/text.js'
import { mistakesOf } from '../plugins/compile-trial.js'

interface TestOptions extends DocumentOptions, OutputOptions {
  readonly url?: string
  readonly watch?: boolean
  readonly reporter: ReporterName
  readonly outputFile?: string
  readonly filter?: string
  readonly update?: boolean
  readonly bail?: boolean
  /** Minimum share of routes with a case, in percent. */
  readonly coverageMin?: number
}

/** Runs test cases against a document, or against a running gateway. */
export async function test(options: TestOptions, ...operands: string[]): Promise<number> {
  const files = findCaseFiles(operands, options.config)
  if (options.watch === true) return watchAndRun([...files, options.config])
  const loaded: LoadedFile[] = []
  for (const file of files) loaded.push(await loadCaseFile(file))
  const mistakes = loaded.flatMap(({ result }) => (result.ok ? [] : result.diagnostics))
  if (mistakes.length > 0) throw invalid(mistakes)
  const plan = new TestPlan(loaded, options)
  const url = options.url === undefined ? null : urlOf(options.url)
  const bundle = url === null ? await loadForTest(options.config) : null
  const coverage = bundle === null ? null : new Coverage(resolvePlan(bundle))
  const sinceMono = performance.now()
  const outcomes = await plan.run(await runnerOf(bundle, coverage, url))
  const report = { outcomes, ms: performance.now() - sinceMono }
  plan.saveSnapshots()
  return finish(report, coverage, options)
}

/** Runs one case. */
interface Runner {
  run(one: FiledCase, context: CaseContext): Promise<CaseOutcome>
  close(): Promise<void>
}

async function runnerOf(
  bundle: ConfigBundle | null,
  coverage: Coverage | null,
  url: URL | null,
): Promise<Runner> {
  if (bundle === null || coverage === null)
    return { run: (one, context) => runRemotely(one, context, url!), close: async () => {} }
  try {
    return await CaseRunner.open(bundle, coverage)
  } catch (error) {
    throw new Failure(messageOf(error), EXIT.invalid)
  }
}

/** Selected cases with their files. */
class TestPlan {
  readonly #cases: readonly { readonly one: FiledCase; readonly context: CaseContext }[]
  readonly #options: TestOptions
  readonly #hasOnly: boolean

  /** @throws Failure if no case is selected */
  constructor(files: readonly LoadedFile[], options: TestOptions) {
    const filter = options.filter?.toLowerCase()
    this.#options = options
    this.#cases = files.flatMap(({ file, result }) => {
      if (!result.ok) return []
      const snapshots = new Snapshots(file, options.update === true)
      const context = { defaults: result.defaults, snapshots }
      return result.cases
        .filter(({ name }) => filter === undefined || name.toLowerCase().includes(filter))
        .map((one) => ({ one: { ...one, file }, context }))
    })
    if (this.#cases.length === 0) throw usageError(`no case has '${options.filter}' in its name`)
    this.#hasOnly = this.#cases.some(({ one }) => one.only === true)
  }

  async run(runner: Runner): Promise<CaseOutcome[]> {
    const outcomes: CaseOutcome[] = []
    try {
      for (const { one, context } of this.#cases) {
        const { file, line, name } = one
        const reason = this.#skipReason(one, outcomes)
        const none = { file, line, name, ms: 0, failures: [] } as const
        outcomes.push(
          reason === '' ? await runner.run(one, context) : { ...none, status: 'skipped', skipped: reason },
        )
      }
    } finally {
      await runner.close()
    }
    return outcomes
  }

  #skipReason({ skip, only }: FiledCase, before: readonly CaseOutcome[]): string {
    if (skip === true) return 'skip'
    if (this.#hasOnly && only !== true) return 'another case has `only`'
    const hasFailed = this.#options.bail === true && before.some(({ status }) => status === 'failed')
    return hasFailed ? 'an earlier case failed' : ''
  }

  saveSnapshots(): void {
    const isWhole = this.#options.filter === undefined && !this.#hasOnly
    const all = new Set(this.#cases.map(({ context }) => context.snapshots))
    let written = 0
    for (const snapshots of all) {
      const skips = this.#cases.some(
        ({ one, context }) => context.snapshots === snapshots && one.skip === true,
      )
      snapshots.save(isWhole && !skips)
      written += snapshots.written
    }
    if (written > 0) say(`${countText(written, 'snapshot')} written`)
  }
}

async function finish(report: RunReport, coverage: Coverage | null, options: TestOptions): Promise<number> {
  const { output, reporter, outputFile, filter, coverageMin } = options
  const isShown = coverage !== null && filter === undefined
  if (output === 'json') {
    const value = {
      ...countsOf(report),
      cases: report.outcomes,
      ...(isShown ? { coverage: coverage.value } : {}),
    }
    await printValue(value, output)
  } else {
    const isFile = outputFile !== undefined
    const text = formatReport(reporter, report, !isFile && reporter === 'spec' && hasColors())
    if (isFile) {
      writeFileSync(outputFile, text)
      printText(formatReport('spec', report, hasColors()))
    } else printText(text)
    const isText = isFile || reporter === 'spec'
    if (isShown) for (const line of coverage.lines) isText ? print(line) : say(line)
  }
  const isBelow = coverageMin !== undefined && coverage !== null && coverage.percent < coverageMin
  if (isBelow)
    complain(
      `only ${Math.floor(coverage.percent)}% of the routes have a case; --coverage-min is ${coverageMin}%`,
    )
  return isBelow || countsOf(report).failed > 0 ? EXIT.assertion : EXIT.ok
}

/**
 * Loads a document without its environment: unset variables get the value `test-NAME`, and secrets in Vault `test-secret`.
 * @throws Failure with all errors
 */
async function loadForTest(config: string): Promise<ConfigBundle> {
  const source = await readDocument(config)
  const found = (pattern: RegExp): string[] => [...source.text.matchAll(pattern)].map((match) => match[1]!)
  const env: Record<string, string | undefined> = { ...process.env }
  for (const name of found(/\$\{env:([A-Za-z0-9_]{1,256})(?:\|json)?\}/g)) env[name] ??= `test-${name}`
  const secrets = new Map(found(/(\$\{vault:[^}]{1,1000}\})/g).map((text) => [text, 'test-secret']))
  const result = await checkDocument(source, { env, secrets })
  if (!result.ok) throw invalid(result.diagnostics)
  const mistakes = policyDiagnostics(source, await mistakesOf(result.bundle, catalog), catalog)
  if (mistakes.length > 0) throw invalid(mistakes)
  return result.bundle
}

function invalid(diagnostics: readonly Diagnostic[]): Failure {
  return new Failure(diagnostics.map(formatDiagnostic).join('\n'), EXIT.invalid)
}

function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    throw usageError(`'${text}' is not a URL; use for example --url http://127.0.0.1:8080`)
  return url
}
