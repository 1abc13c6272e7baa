import pc from 'picocolors'
import { stringify } from 'yaml'

/** How results are printed. */
export type Format = 'table' | 'json' | 'yaml' | 'jsonl'

/** The version of the JSON that commands print; it changes when a field changes its meaning or goes away. */
const SCHEMA_VERSION = 1

// A reader that has seen enough, such as `head`, is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

let isQuiet = false

/** Leaves out messages; results and errors stay. */
export function beQuiet(): void {
  isQuiet = true
}

/** Prints a line of the result on stdout. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Prints a message for people on stderr. */
export function say(line: string): void {
  if (!isQuiet) process.stderr.write(`${line}\n`)
}

/** Prints an error on stderr. */
export function complain(line: string): void {
  process.stderr.write(`${pc.isColorSupported ? pc.red(line) : line}\n`)
}

/** Prints a value in a machine's format; an object gets its `schemaVersion`. */
export function printValue(value: object, format: Format): void {
  const versioned = Array.isArray(value) ? value : { schemaVersion: SCHEMA_VERSION, ...value }
  if (format === 'yaml') process.stdout.write(stringify(versioned))
  else if (format === 'jsonl') print(JSON.stringify(versioned))
  else print(JSON.stringify(versioned, null, 2))
}

/** Whether stdout is a terminal that shows colours. */
export function hasColor(): boolean {
  return pc.isColorSupported && process.stdout.isTTY === true
}
