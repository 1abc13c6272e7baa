import { visibleText } from '@sluice/core/visible-text'
import pc from 'picocolors'
import { EXIT } from './failure.js'
import { type Cell, fittedTable, type Heading } from './table.js'

/** Output format. */
export type Format = 'table' | 'wide' | 'json' | 'yaml' | 'jsonl'

/** Version of the printed objects. It changes when a field is removed or changes its meaning. */
const SCHEMA_VERSION = 1
const CLEAR_SCREEN = '\u001b[2J\u001b[H'

const WRITE_REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'no space left on the device',
  EDQUOT: 'disk quota exceeded',
  EFBIG: 'file too large',
  EIO: 'I/O error',
}

let isQuiet = false
let needsReader = true
/** Errors of the command on stderr, and true if it has written to stdout. */
let written: { errors: string[]; hasResult: boolean } = { errors: [], hasResult: false }

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A process that continues without a reader also continues when the disk is full.
  if (!needsReader) return
  // A reader that closes the pipe, such as `head`, is no error. There is nothing left to do.
  if (isReaderGone(error, process.stdout)) process.exit()
  complain(`cannot write the result: ${WRITE_REASONS[error.code ?? ''] ?? error.message}`)
  process.exit(EXIT.failed)
})
// Errors on stderr cannot be reported.
process.stderr.on('error', () => {})

/** True if the reader has closed the pipe or the terminal. */
function isReaderGone({ code }: NodeJS.ErrnoException, { isTTY }: NodeJS.WriteStream): boolean {
  return code === 'EPIPE' || (code === 'EIO' && isTTY)
}

/** Keeps the process running when the reader of its output goes away. */
export function outliveReader(): void {
  needsReader = false
}

/** Suppresses messages; results and errors are still printed. */
export function beQuiet(): void {
  isQuiet = true
}

/** True if messages are suppressed. */
export function isSilent(): boolean {
  return isQuiet
}

/** True if the format is a table. */
export function isTable(format: Format): format is 'table' | 'wide' {
  return format === 'table' || format === 'wide'
}

/** Prints human-readable lines to stdout. Use `printText` for machine-readable output. */
export function print(...lines: readonly string[]): void {
  if (lines.length > 0) printText(`${visibleLines(lines.join('\n'))}\n`)
}

/** Prints text to stdout unchanged. */
export function printText(text: string): void {
  written.hasResult = true
  process.stdout.write(text)
}

/**
 * Prints text that others wrote, such as records and files, to stdout. A pipe gets it unchanged. On a terminal,
 * characters that it would interpret are escaped as in JSON.
 */
export function printData(text: string): void {
  printText(process.stdout.isTTY ? terminalText(text) : text)
}

/** Escapes control characters and bidirectional overrides, except line breaks and tabs, as in JSON. */
function terminalText(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => {
    if (character === '\n' || character === '\t') return character
    const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i))
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')
  })
}

/** Prints a table, fitted to the width of the terminal unless the format is `wide`. */
export function printTable(
  headings: readonly Heading[],
  rows: readonly (readonly Cell[])[],
  format: Format = 'table',
): void {
  const width = format === 'wide' ? Number.POSITIVE_INFINITY : terminalWidth()
  const { lines, leftOut } = fittedTable(headings, rows, width)
  const [head = '', ...body] = lines
  printText(`${[colors(process.stdout).bold(head), ...body].join('\n')}\n`)
  if (leftOut.length > 0) say(`not shown: ${leftOut.join(', ')}; use a wider terminal or -o json`)
}

/** Prints a machine-readable result; an object starts with its `schemaVersion`. */
export async function printValue(value: object, format: Format): Promise<void> {
  const versioned = { schemaVersion: SCHEMA_VERSION, ...value }
  if (format === 'yaml') {
    const { stringify } = await import('yaml')
    printData(stringify(versioned))
  } else printData(`${JSON.stringify(versioned, null, format === 'jsonl' ? 0 : 2)}\n`)
}

/** Resets the output state, in a process that runs several commands. */
export function beginCommand(): void {
  written = { errors: [], hasResult: false }
}

/**
 * Prints the object `error` with the errors of the command, so that programs need not read stderr. Does nothing if the
 * command has already printed a result.
 */
export async function printErrors(exit: number, format: Format, details: object): Promise<void> {
  if (written.hasResult) return
  const [code = 'failed'] = Object.entries(EXIT).find(([, value]) => value === exit) ?? []
  await printValue(
    { error: { code, exitCode: exit, message: written.errors.join('\n'), ...details } },
    format,
  )
}

/** Prints a result: `show` prints the table, other formats print the value. */
export async function printResult(value: object, format: Format, show: () => void): Promise<void> {
  if (isTable(format)) show()
  else await printValue(value, format)
}

/** Prints a message to stderr. */
export function say(line: string): void {
  if (!isQuiet) complainText(`${visibleLines(line)}\n`)
}

/** Prints an error to stderr. */
export function complain(message: string): void {
  written.errors.push(message)
  complainText(`${colors(process.stderr).red(visibleLines(message))}\n`)
}

/** Escapes control characters: messages contain file names, keys and values from users. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visibleText).join('\n')
}

/** Prints text to stderr unchanged, such as a prompt. */
export function complainText(text: string): void {
  process.stderr.write(text)
}

/**
 * Clears the terminal before the next state of a watched object. Prints an empty line if the output is not a
 * terminal.
 */
export function turnPage(): void {
  printText(process.stdout.isTTY ? CLEAR_SCREEN : '\n')
}

/** Prints a heading, on a terminal only: programs would read it as a result. */
export function printHeading(text: string): void {
  if (process.stdout.isTTY) print(text)
}

/** True if results may contain colours. */
export function hasColors(): boolean {
  return isColored(process.stdout)
}

function colors(stream: NodeJS.WriteStream): ReturnType<typeof pc.createColors> {
  return pc.createColors(isColored(stream))
}

/** True if a stream supports colours. NO_COLOR and FORCE_COLOR take precedence. */
function isColored(stream: NodeJS.WriteStream): boolean {
  const { NO_COLOR = '', FORCE_COLOR = '', TERM = '' } = process.env
  if (NO_COLOR !== '') return false
  if (FORCE_COLOR !== '') return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return stream.isTTY === true && TERM !== 'dumb'
}

/** Returns the width of the terminal in characters. There is no limit without a terminal, or if its size is unknown. */
export function terminalWidth(): number {
  return (process.stdout.isTTY && process.stdout.columns) || Number.POSITIVE_INFINITY
}
