import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'
import { provideServices, remedyFor } from './services.mjs'
import { structureProblems } from './structure.mjs'

/**
 * `npm test`: lint, structure, services, then every test. `npm test -- packages/core` runs the tests below a folder
 * only, `--grep TEXT` those whose name holds a text; both leave lint and structure out.
 */
const FILE_TIMEOUT_MS = 300_000
const CONCURRENCY = 2
const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')
process.chdir(root)

const { folders, grep } = wishes(process.argv.slice(2))
let failures = 0

if (folders.length === 0 && grep === null) {
  step('lint', () => lintProblems())
  step('structure', () => structureProblems(root))
}
step('services', () => serviceProblems())
await runTests()

function wishes(args) {
  const at = args.indexOf('--grep')
  return at < 0 ? { folders: args, grep: null } : { folders: args.slice(0, at), grep: args[at + 1] ?? '' }
}

function step(name, check) {
  console.log(`\n== ${name}`)
  const problems = check()
  for (const problem of problems) console.log(problem)
  console.log(problems.length === 0 ? 'ok' : `${problems.length} problem${problems.length === 1 ? '' : 's'}`)
  if (problems.length > 0) failures++
}

function lintProblems() {
  const { status, stdout, stderr } = spawnSync(
    'npx',
    ['--no-install', 'biome', 'check', '--max-diagnostics=50'],
    { encoding: 'utf8' },
  )
  return status === 0 ? [] : [stdout + stderr]
}

/** On a person's machine a missing service is told and its tests skip; in CI it is a failure. */
function serviceProblems() {
  const lines = provideServices().map(
    (service) => `${service.name} is missing (${service.usedFor}); ${remedyFor(service)}`,
  )
  if (process.env.CI === 'true') return lines
  for (const line of lines) console.log(`skipped: ${line}`)
  return []
}

async function runTests() {
  console.log('\n== tests')
  const files = testFiles()
  const options = { files, concurrency: CONCURRENCY, timeout: FILE_TIMEOUT_MS }
  if (grep !== null) options.testNamePatterns = [grep]
  const counts = { passed: 0, failed: 0, skipped: 0 }
  const stream = run(options)
  stream.on('test:pass', (event) => count(counts, event, 'passed'))
  stream.on('test:fail', (event) => count(counts, event, 'failed'))
  const report = stream.compose(new spec())
  for await (const text of report) process.stdout.write(text)
  process.exitCode = counts.failed + failures > 0 ? 1 : 0
  if (failures > 0) console.log(`${failures} of the steps before the tests failed; see above`)
  console.log(`${counts.passed} passed, ${counts.failed + failures} failed, ${counts.skipped} skipped`)
}

function count(counts, { skip, details }, kind) {
  if (details?.type === 'suite') return
  if (skip !== undefined) counts.skipped++
  else counts[kind]++
}

/** Compiled tests whose source is still there, and those of the tools. */
function testFiles() {
  const roots = ['packages', 'bench', 'tools']
  const all = roots.flatMap((folder) => filesBelow(join(root, folder)))
  const tests = all.filter(
    (file) => (/\/dist\/.*\.test\.js$/.test(file) && hasSource(file)) || /\/tools\/.*\.test\.mjs$/.test(file),
  )
  const wanted = folders.map((folder) => join(root, folder))
  return wanted.length === 0
    ? tests
    : tests.filter((file) => wanted.some((folder) => file.startsWith(folder)))
}

function hasSource(file) {
  return existsSync(file.replace('/dist/', '/src/').replace(/\.js$/, '.ts'))
}

function filesBelow(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === 'node_modules') return []
    const path = join(folder, entry.name)
    return entry.isDirectory() ? filesBelow(path) : [path]
  })
}
