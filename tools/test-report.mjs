import { relative, resolve } from 'node:path'
import { inspect } from 'node:util'

const SLOWEST = 10
/** Placeholder for failures without a file. */
const NO_FILE = 'the run'
/** Maximum number of characters kept of a file's output. It is shown if a test fails. */
const OUTPUT_LENGTH = 20_000
/** Message of Node.js 20 for tests that `--grep` excludes. Later versions do not report them. */
const NOT_SELECTED = 'test name does not match pattern'

/**
 * Prints failed tests at once and nothing else. At the end it prints the slowest files, the reasons of skipped tests,
 * and each file with failures: its failed tests and its output.
 */
export class TestReport {
  passed = 0
  failed = 0
  skipped = 0
  /** The program that runs each test file. */
  #programs
  #groups
  /** Names of the running tests, outermost first. */
  #open = []
  /** Last part of the output of each program. */
  #outputs = new Map()
  /** Duration of each file in milliseconds. */
  #durations = new Map()
  /** Number of skipped tests by reason. */
  #skipped = new Map()
  /** Failures by the file that calls `test`, which may be a helper. */
  #failures = new Map()

  /** @param programs the program that runs each test file, if it is not the file itself */
  constructor(programs = new Map()) {
    this.#programs = programs
    this.#groups = new Set(
      [...programs].filter(([file, program]) => file !== program).map(([, program]) => program),
    )
  }

  /** Processes one event of the `node:test` runner. */
  take({ type, data }) {
    if (type === 'test:start') this.#open[data.nesting] = data.name
    else if (type === 'test:pass') this.#pass(data)
    else if (type === 'test:fail') this.#fail(data)
    else if (type === 'test:stdout' || type === 'test:stderr') this.#keep(data)
    else if (type === 'test:complete') this.#time(data)
  }

  close() {
    const slowest = [...this.#durations].sort(([, a], [, b]) => b - a).slice(0, SLOWEST)
    console.log('the slowest files:')
    for (const [file, ms] of slowest) console.log(`${(ms / 1000).toFixed(1).padStart(6)} s  ${file}`)
    for (const [reason, count] of this.#skipped) console.log(`↷ ${count} skipped: ${reason}`)
    for (const [file, failures] of this.#failures) {
      console.log(`\n✖ ${file}`)
      for (const failure of failures) console.log(indented(failure))
      const program = this.#programs.get(file) ?? file
      const output = this.#outputs.get(program)
      if (output !== undefined) console.log(`  output of ${program}:\n${indented(output.trimEnd())}`)
    }
  }

  #pass({ details, skip, todo }) {
    if (details.type === 'suite' || skip === NOT_SELECTED) return
    const reason = skip ?? todo
    if (reason === undefined) {
      this.passed += 1
      return
    }
    this.skipped += 1
    const text = typeof reason === 'string' ? reason : 'no reason given'
    this.#skipped.set(text, (this.#skipped.get(text) ?? 0) + 1)
  }

  #fail(data) {
    const { error, type } = data.details
    if (type !== 'suite') this.failed += 1
    const file = data.file === undefined ? NO_FILE : compiledOf(relative('.', data.file))
    const failures = this.#failures.get(file) ?? []
    this.#failures.set(file, failures)
    // For tests that the end of the run cuts off, the count is enough.
    if (error.failureType === 'subtestsFailed' || error.failureType === 'testAborted') return
    const title = [...this.#open.slice(0, data.nesting), data.name].join(' › ')
    const place = data.file === undefined ? '' : `  ${relative('.', data.file)}:${data.line ?? 1}`
    const reason = inspect(error.cause instanceof Error ? error.cause : error, { depth: 8 })
    failures.push(`✖ ${title}${place}\n${indented(reason)}`)
    console.log(failures.at(-1))
  }

  #keep({ file, message }) {
    const name = relative('.', file)
    this.#outputs.set(name, ((this.#outputs.get(name) ?? '') + message).slice(-OUTPUT_LENGTH))
  }

  /** Adds the duration of a test to that of its file. A file that runs alone is reported as a test too. */
  #time({ nesting, name, file, details }) {
    if (nesting > 0 || file === undefined) return
    const path = compiledOf(relative('.', file))
    if (file === resolve(name)) {
      if (!this.#groups.has(path)) this.#durations.set(path, details.duration_ms)
    } else if (this.#programs.get(path) !== path) {
      this.#durations.set(path, (this.#durations.get(path) ?? 0) + details.duration_ms)
    }
  }
}

/** Returns the compiled file of a source: tests name sources, the runner compiled files. */
function compiledOf(file) {
  return file.replace(/(^|\/)src\//, '$1dist/').replace(/\.ts$/, '.js')
}

function indented(text) {
  return text.replaceAll(/^/gm, '    ')
}
