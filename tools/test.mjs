import { setMaxListeners } from 'node:events'
import { run } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { SharedNode } from './elasticsearch/shared-node.mjs'
import { endLeftOvers, RUN_VARIABLE } from './left-over.mjs'
import { proseProblems } from './lint/prose.mjs'
import { checkImports, runLintTool } from './lint-tools/lint-tool.mjs'
import { provideServices } from './services/services.mjs'
import { structureProblems } from './structure.mjs'
import { testFiles } from './test-files.mjs'
import { programsOf } from './test-groups.mjs'
import { TestReport } from './test-report.mjs'

/**
 * `npm test`: lint, structure, prose, services, then every test. `npm test -- packages/core` runs only the tests below
 * a folder, `--grep TEXT` only the tests whose name contains a text; both skip the linters. `npm run check` is `--quick`:
 * the linters and the tests that start no process.
 */

/** More than the two cores of the usual machine, because files often wait for processes that they have started. */
const FILES_AT_A_TIME = 4
/** Time limit for a file, in milliseconds. It only ends files that hang. */
const FILE_TIMEOUT_MS = 1_800_000
/** Folders whose tests start no processes. */
const QUICK = [
  'packages/core',
  'packages/config',
  'packages/policies/src/crypto',
  'packages/policies/src/shared',
  'packages/policies/src/identity',
]
const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
process.chdir(root)

const { values, positionals } = parseArgs({
  options: { grep: { type: 'string' }, quick: { type: 'boolean' } },
  allowPositionals: true,
})
const isPartial = values.grep !== undefined || positionals.length > 0
const steps = [
  { name: 'lint', problems: lintProblems, isAlways: false },
  { name: 'structure', problems: () => structureProblems(root), isAlways: false },
  { name: 'prose', problems: () => proseProblems(root), isAlways: false },
  { name: 'services', problems: serviceProblems, isAlways: true },
]
const failedSteps = steps.filter((step) => isWanted(step) && hasFailed(step))

heading('tests')
const files = testFiles(values.quick ? QUICK : positionals)
const hasTests = files.length > 0
if (!hasTests) console.log(`no test files below ${positionals.join(', ')}`)
const runId = `${process.pid}-${Date.now()}`
process.env[RUN_VARIABLE] = runId
const node = new SharedNode()
if (!values.quick) await node.offer()
const interrupted = new AbortController()
// One listener per file.
setMaxListeners(0, interrupted.signal)
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    console.log(`\nended by ${signal}`)
    interrupted.abort()
  })
}
const report = await runTests().finally(() => node.stop())
report.close()
for (const { name } of failedSteps) console.log(`✖ the step '${name}' before the tests failed; see above`)
const isAllSkipped = hasTests && report.passed + report.failed === 0
if (isAllSkipped) console.log('✖ no test ran: all of them were skipped')
const failed = report.failed + failedSteps.length + (hasTests && !isAllSkipped ? 0 : 1)
console.log(`\n${report.passed} passed, ${failed} failed, ${report.skipped} skipped`)
process.exit(failed === 0 ? 0 : 1)

function isWanted({ name, isAlways }) {
  return values.quick ? name !== 'services' : isAlways || !isPartial
}

function hasFailed({ name, problems }) {
  heading(name)
  const found = problems()
  for (const problem of found) console.log(problem)
  console.log(found.length === 0 ? 'ok' : `${found.length} problem${found.length === 1 ? '' : 's'}`)
  return found.length > 0
}

function lintProblems() {
  const args = ['check', '--error-on-warnings', '--max-diagnostics=50']
  return [runLintTool('biome', args), checkImports()]
    .filter(({ status }) => status !== 0)
    .map(({ stdout, stderr }) => stdout + stderr)
}

/** Returns missing services. They are failures in CI, and only skip tests elsewhere. */
function serviceProblems() {
  const lines = provideServices()
  if (process.env.CI === 'true') return lines
  for (const line of lines) console.log(`skipped: ${line}`)
  return []
}

/** Reading source maps costs each file about 0.3 s of CPU time. Partial runs show positions in the source. */
function omitSourceMaps() {
  process.execArgv = process.execArgv.filter((flag) => flag !== '--enable-source-maps')
}

/** Runs the test files, then ends processes that they have left behind. */
async function runTests() {
  console.log(`${files.length} files, ${FILES_AT_A_TIME} at a time`)
  const programs = programsOf(files)
  const report = new TestReport(programs)
  const { signal } = interrupted
  if (!isPartial) omitSourceMaps()
  const options = {
    files: [...new Set(programs.values())],
    concurrency: FILES_AT_A_TIME,
    timeout: FILE_TIMEOUT_MS,
    signal,
  }
  if (values.grep !== undefined) options.testNamePatterns = [literally(values.grep)]
  for await (const event of run(options)) report.take(event)
  for (const command of await endLeftOvers(runId)) console.log(`left behind, and ended now: ${command}`)
  return report
}

function literally(text) {
  return new RegExp(text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'i')
}

function heading(text) {
  console.log(`\n== ${text}`)
}
