import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const MAX_OUTPUT = 256 * 1024 * 1024

/** Runs a command and returns its stdout. @throws Error with its output if it fails */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { encoding: 'utf8', maxBuffer: MAX_OUTPUT, ...options })
  if (result.error !== undefined) throw new Error(`cannot run ${command}: ${result.error.message}`)
  if (result.status !== 0) throw new Error(`${command} ${args[0]} failed:\n${result.stderr}${result.stdout}`)
  return result.stdout
}

/** Runs npm in a folder and returns its stdout. @throws Error with its output if it fails */
export function npm(cwd, ...args) {
  return run('npm', args, { cwd })
}

/** Returns the content of a JSON file. */
export function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'))
}
