import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Summary } from '@sluice/bench'
import { EXIT, Failure, unreadable } from '../failure.js'
import { RESULTS_DIR, SUMMARY_FILE } from './results-dir.js'
import { toolFailure } from './tool-failure.js'
import type { BenchTools } from './tools.js'

/** A run on disk. */
export interface SavedSummary {
  readonly summary: Summary
  readonly dir: string
}

/** The run that a path names: its folder, or its summary.json. @throws Failure. */
export async function savedSummary(tools: BenchTools, path: string): Promise<SavedSummary> {
  const file = summaryFile(path)
  try {
    return { summary: await tools.readSummary(file), dir: dirname(file) }
  } catch (error) {
    throw toolFailure(error)
  }
}

/** The newest run below `results`. @throws Failure when there is none. */
export function newestRun(): string {
  const files = foldersOf(RESULTS_DIR)
    .map((name) => join(RESULTS_DIR, name, SUMMARY_FILE))
    .map((file) => ({ file, changed: statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? null }))
    .filter(({ changed }) => changed !== null)
  const newest = files.sort((a, b) => b.changed! - a.changed!)[0]
  if (newest !== undefined) return newest.file
  throw new Failure(
    EXIT.failed,
    `no run is below ${RESULTS_DIR}; measure with gw bench run apinizer, or name a summary with --from`,
  )
}

function summaryFile(path: string): string {
  try {
    return statSync(path).isDirectory() ? join(path, SUMMARY_FILE) : path
  } catch (error) {
    throw unreadable('the run', path, error)
  }
}

function foldersOf(dir: string): string[] {
  try {
    return readdirSync(dir)
  } catch {
    return []
  }
}
