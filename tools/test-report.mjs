import { relative, resolve } from 'node:path'
import { inspect } from 'node:util'

const DOTS_PER_LINE = 100
const SLOWEST = 10
/** Placeholder for failures without a file. */
const NO_FILE = 'the run'
/** Maximum number of characters kept of a file's output. It is shown if a test fails. */
const OUTPUT_LENGTH = 20_000
/** Message of Node.js 20 for tests that `--grep` excludes. Later versions do not report them. */
const NOT_SELECTED = 'test name does not match pattern'

/**
 * Prints a dot for each passed test, and failed or skipped tests in full. At the end it prints the slowest and flaky
 * files, the output of files with failures, and all failures again.
 */
export class TestReport {
  passed = 0
  skipped = 0
  /** Number of tests that passed in their second run. */
  flaky = 0
  #dots = 0
  /** Names of the running tests, outermost first. */
  #open = []
  #summary = []
  /** Last part of the output of each file. */
  #outputs = new Map()
  /** Duration of each file in milliseconds. */
  #durations = new Map()
  /** Test files with a failure. */
  #failedFiles = new Set()
  /** Failures by the file that calls `test`, which may be a helper. */
  #failed = new Map()
  /** Files that failed in parallel and passed alone. */
  #flaky = []

  get failed() {
    return [...this.#failed.values()].reduce((sum, { count }) => sum + count, 0)
  }

  /** Test files with failures. */
  get failedFiles() {
    return [...this.#failedFiles]
  }

  /** Reports a file that passed alone as flaky instead of failed. */
  forgive(file) {
    this.#failedFiles.delete(file)
    this.#forgivePlace(file, file)
    // Failures in helpers belong to one of these files.
    if (this.#failedFiles.size > 0) return
    for (const place of this.#failed.keys()) if (place !== NO_FILE) this.#forgivePlace(place, file)
  }

  #forgivePlace(place, file) {
    const failed = this.#failed.get(place)
    if (failed === undefined) return
    this.flaky += failed.count
    this.#flaky.push({ file, failures: failed.failures })
    this.#failed.delete(place)
  }

  /** Processes one event of the `node:test` runner. */
  take({ type, data }) {
    if (type === 'test:start') this.#open[data.nesting] = data.name
    else if (type === 'test:pass') this.#pass(data)
    else if (type === 'test:fail') this.#fail(data)
    else if (type === 'test:stdout' || type === 'test:stderr') this.#keep(data)
    else if (type === 'test:complete') this.#time(data)
    else if (type === 'test:diagnostic' && data.nesting === 0) this.#summary.push(data.message)
  }

  /** Prints the summary, with the runner's own counts. */
  close() {
    this.#line('')
    const slowest = [...this.#durations].sort(([, a], [, b]) => b - a).slice(0, SLOWEST)
    for (const [file, ms] of slowest) this.#line(`${(ms / 1000).toFixed(1).padStart(6)} s  ${file}`)
    for (const message of this.#summary) this.#line(`ℹ ${message}`)
    for (const { file, failures } of this.#flaky) {
      this.#line(`flaky: ${file} failed beside others, and passed by itself`)
      for (const failure of failures) this.#line(indented(failure))
    }
    for (const file of this.#failed.keys()) {
      const output = this.#outputs.get(file)
      if (output !== undefined) this.#line(`${file} printed:\n${indented(output.trimEnd())}`)
    }
    for (const { failures } of this.#failed.values()) for (const failure of failures) this.#line(failure)
  }

  #pass(data) {
    if (data.details.type === 'suite' || data.skip === NOT_SELECTED) return
    if (data.skip === undefined && data.todo === undefined) {
      this.passed += 1
      return this.#dot()
    }
    this.skipped += 1
    const reason = data.skip ?? data.todo
    this.#line(`↷ skipped: ${this.#title(data)}${typeof reason === 'string' ? ` (${reason})` : ''}`)
  }

  #keep({ file, message }) {
    const name = relative('.', file)
    this.#outputs.set(name, ((this.#outputs.get(name) ?? '') + message).slice(-OUTPUT_LENGTH))
  }

  /** Records the duration of a file. The runner reports each file as a test. */
  #time({ nesting, name, file, details }) {
    if (nesting !== 0 || file !== resolve(name)) return
    this.#durations.set(relative('.', file), details.duration_ms)
    if (!details.passed) this.#failedFiles.add(relative('.', file))
  }

  #fail(data) {
    const file = data.file === undefined ? NO_FILE : compiledOf(relative('.', data.file))
    const failed = this.#failed.get(file) ?? { count: 0, failures: [] }
    this.#failed.set(file, failed)
    if (data.details.type !== 'suite') failed.count += 1
    const { error } = data.details
    // For tests that the end of the run cuts off, the count is enough.
    if (error.failureType === 'subtestsFailed' || error.failureType === 'testAborted') return
    const place = data.file === undefined ? '' : `  ${relative('.', data.file)}:${data.line ?? 1}`
    const reason = inspect(error.cause instanceof Error ? error.cause : error, { depth: 8 })
    const failure = `✖ ${this.#title(data)}${place}\n${indented(reason)}`
    this.#line(failure)
    failed.failures.push(failure)
  }

  #title(data) {
    return [...this.#open.slice(0, data.nesting), data.name].join(' › ')
  }

  #dot() {
    process.stdout.write('.')
    this.#dots += 1
    if (this.#dots === DOTS_PER_LINE) this.#line('')
  }

  #line(text) {
    if (this.#dots > 0) process.stdout.write('\n')
    this.#dots = 0
    if (text !== '') console.log(text)
  }
}

/** Returns the compiled file of a source: tests name sources, the runner compiled files. */
function compiledOf(file) {
  return file.replace(/(^|\/)src\//, '$1dist/').replace(/\.ts$/, '.js')
}

function indented(text) {
  return text.replaceAll(/^/gm, '    ')
}
