import { relative, resolve } from 'node:path'
import { inspect } from 'node:util'

const DOTS_PER_LINE = 100
const SLOWEST = 10
/** Of what a file prints, the end, which is shown when one of its tests fails. */
const OUTPUT_LENGTH = 20_000
/** How Node.js 20 reports a test that --grep left out; later versions are silent about it. */
const NOT_SELECTED = 'test name does not match pattern'

/**
 * Prints a dot for each test that passes, and in full what fails or is skipped. At the end come the slowest files, what
 * files with failures have printed, and the failures once more, because of a long log often only the end is kept.
 */
export class TestReport {
  passed = 0
  failed = 0
  skipped = 0
  #dots = 0
  /** The names of the tests that are open, outermost first. */
  #open = []
  #summary = []
  /** The end of what each file has printed. */
  #outputs = new Map()
  /** How long each file took, in milliseconds. */
  #durations = new Map()
  #failedFiles = new Set()
  #failures = []

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
    for (const file of this.#failedFiles) {
      const output = this.#outputs.get(file)
      if (output !== undefined) this.#line(`${file} printed:\n${indented(output.trimEnd())}`)
    }
    for (const failure of this.#failures) this.#line(failure)
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
    if (nesting === 0 && file === resolve(name)) this.#durations.set(relative('.', file), details.duration_ms)
  }

  #fail(data) {
    if (data.file !== undefined) this.#failedFiles.add(relative('.', data.file))
    if (data.details.type !== 'suite') this.failed += 1
    const { error } = data.details
    // Of what the end of the run cuts short the count is enough.
    if (error.failureType === 'subtestsFailed' || error.failureType === 'testAborted') return
    const place = data.file === undefined ? '' : `  ${relative('.', data.file)}:${data.line ?? 1}`
    const reason = inspect(error.cause instanceof Error ? error.cause : error, { depth: 8 })
    const failure = `✖ ${this.#title(data)}${place}\n${indented(reason)}`
    this.#line(failure)
    this.#failures.push(failure)
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

function indented(text) {
  return text.replaceAll(/^/gm, '    ')
}
