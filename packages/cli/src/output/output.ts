import { visibleText } from '@sluice/core/visible-text'
import pc from 'picocolors'
import { EXIT } from '../failure.js'
import { type Cell, tableLines } from './table.js'

/** How a result is printed. */
export type Format = 'table' | 'wide' | 'json' | 'yaml' | 'jsonl'

/** The version of the objects that commands print; it changes when a field changes its meaning or goes away. */
const SCHEMA_VERSION = 1
const CLEAR_SCREEN = '\u001b[2J\u001b[H'

const WRITE_REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'there is no space left on the device',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would be larger than is allowed',
  EIO: 'the device reports an error',
}

let isQuiet = false
let needsReader = true

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // What goes on without a reader goes on without a disk, too.
  if (!needsReader) return
  // A reader that has seen enough, such as `head`, is no error, and there is nobody left to work for.
  if (isReaderGone(error, process.stdout)) process.exit()
  complain(`cannot write the result: ${WRITE_REASONS[error.code ?? ''] ?? error.message}`)
  process.exit(EXIT.failed)
})
// There is nowhere left to say that nothing can be said.
process.stderr.on('error', () => {})

/** A terminal that was closed is an error of its own. */
function isReaderGone({ code }: NodeJS.ErrnoException, { isTTY }: NodeJS.WriteStream): boolean {
  return code === 'EPIPE' || (code === 'EIO' && isTTY)
}

/** From now on the process has more to do than to print: it outlives whoever reads its output. */
export function outliveReader(): void {
  needsReader = false
}

/** Leaves out messages; results and errors stay. */
export function beQuiet(): void {
  isQuiet = true
}

/** Whether messages are left out. */
export function isSilent(): boolean {
  return isQuiet
}

/** Whether a result is printed for people, as a table. */
export function isTable(format: Format): format is 'table' | 'wide' {
  return format === 'table' || format === 'wide'
}

/** Prints human-readable lines to stdout. Use `printText` for machine-readable output. */
export function print(...lines: readonly string[]): void {
  if (lines.length > 0) printText(`${visibleLines(lines.join('\n'))}\n`)
}

/** Prints a piece of the result on stdout, as it is. */
export function printText(text: string): void {
  process.stdout.write(text)
}

/** Prints a result as a table, no wider than the terminal unless it is to be wide. */
export function printTable(
  headings: readonly string[],
  rows: readonly (readonly Cell[])[],
  format: Format = 'table',
): void {
  const width = format === 'wide' ? Number.POSITIVE_INFINITY : terminalWidth()
  const [head = '', ...lines] = tableLines(headings, rows, width)
  printText(`${[colors(process.stdout).bold(head), ...lines].join('\n')}\n`)
}

/** Prints a result for programs; an object begins with its `schemaVersion`. */
export async function printValue(value: object, format: Format): Promise<void> {
  const versioned = { schemaVersion: SCHEMA_VERSION, ...value }
  if (format === 'yaml') {
    const { stringify } = await import('yaml')
    printText(stringify(versioned))
  } else printText(`${JSON.stringify(versioned, null, format === 'jsonl' ? 0 : 2)}\n`)
}

/** Prints a message for people on stderr. */
export function say(line: string): void {
  if (!isQuiet) complainText(`${visibleLines(line)}\n`)
}

/** Prints an error on stderr. */
export function complain(message: string): void {
  complainText(`${colors(process.stderr).red(visibleLines(message))}\n`)
}

/** Messages repeat what people and files say: file names, keys, values. */
function visibleLines(text: string): string {
  return text.split('\n').map(visibleText).join('\n')
}

/** Prints a piece of a message on stderr, as it is: a prompt, the help after a mistake. */
export function complainText(text: string): void {
  process.stderr.write(text)
}

/** Empties the terminal before the next state of something that is watched; elsewhere an empty line parts the two. */
export function turnPage(): void {
  printText(process.stdout.isTTY ? CLEAR_SCREEN : '\n')
}

/** What stands above results; for people only, as a program that reads lines would take it for one of them. */
export function printHeading(text: string): void {
  if (process.stdout.isTTY) print(text)
}

/** Whether results may have colours. */
export function hasColors(): boolean {
  return isColored(process.stdout)
}

function colors(stream: NodeJS.WriteStream): ReturnType<typeof pc.createColors> {
  return pc.createColors(isColored(stream))
}

/** NO_COLOR and FORCE_COLOR have the last word, else a terminal has colours and everything else has none. */
function isColored(stream: NodeJS.WriteStream): boolean {
  const { NO_COLOR = '', FORCE_COLOR = '', TERM = '' } = process.env
  if (NO_COLOR !== '') return false
  if (FORCE_COLOR !== '') return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return stream.isTTY === true && TERM !== 'dumb'
}

function terminalWidth(): number {
  return process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY
}
