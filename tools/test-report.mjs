import { relative, resolve } from 'node:path'
import { inspect } from 'node:util'

const DOTS_PER_LINE = 100
const SLOWEST = 10
/** Where failures stand that the runner names no file for. */
const NO_FILE = 'the run'
/** Of what a file prints, the end, which is shown when one of its tests fails. */
const OUTPUT_LENGTH = 20_000
/** How Node.js 20 reports a test that --grep left out; later versions are silent about it. */
const NOT_SELECTED = 'test name does not match pattern'

/**
 * Prints a dot for each test that passes, and in full what fails or is skipped. At the end come the slowest files, flaky
 * ones, what files with failures have printed, and the failures once more, because of a long log often only the end is kept.
 */
export class TestReport {
  passed = 0
  skipped = 0
  /** Tests that passed at their second run. */
  flaky = 0
  #dots = 0
  /** The names of the tests that are open, outermost first. */
  #open = []
  #summary = []
  /** The end of what each file has printed. */
  #outputs = new Map()
  /** How long each file took, in milliseconds. */
  #durations = new Map()
  /** Test files that ended with a failure. */
  #failedFiles = new Set()
  /** What failed, by the file that calls `test`, which can be a helper: how many tests, and how. */
  #failed = new Map()
  /** Files that failed beside others, and passed by themselves. */
  #flaky = []

  get failed() {
    return [...this.#failed.values()].reduce((sum, { count }) => sum + count, 0)
  }

  /** Those with failures. */
  get failedFiles() {
    return [...this.#failedFiles]
  }

  /** Takes a file that has passed by itself for no failure; it is named, with what failed. */
  forgive(file) {
    this.#failedFiles.delete(file)
    this.#forgivePlace(file, file)
    // What helpers have called `test` for belongs to some file of these.
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

  /** Takes one event of the runner of node:test. */
  take({ type, data }) {
    if (type === 'test:start') this.#open[data.nesting] = data.name
    else if (type === 'test:pass') this.#pass(data)
    else if (type === 'test:fail') this.#fail(data)
    else if (type === 'test:stdout' || type === 'test:stderr') this.#keep(data)
    else if (type === 'test:complete') this.#time(data)
    else if (type === 'test:diagnostic' && data.nesting === 0) this.#summary.push(data.message)
  }

  /** The closing lines, with what the runner itself counted. */
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

  /** The runner takes each file for a test with the name of the file. */
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
    // Of what the end of the run cuts short the count is enough.
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

/** Tests name their sources, the runner the files that it runs. */
function compiledOf(file) {
  return file.replace(/(^|\/)src\//, '$1dist/').replace(/\.ts$/, '.js')
}

function indented(text) {
  return text.replaceAll(/^/gm, '    ')
}
