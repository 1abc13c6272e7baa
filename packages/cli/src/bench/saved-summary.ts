import { existsSync, readdirSync, statSync } from 'node:fs'
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

/**
 * The runs that paths name: each a run, or a folder of runs. Without a path all below `results`.
 * @throws Failure when there is none.
 */
export async function savedSummaries(tools: BenchTools, paths: readonly string[]): Promise<SavedSummary[]> {
  const folders = paths.length === 0 ? [RESULTS_DIR] : paths
  const files = folders.flatMap((path) => (isFolderOfRuns(path) ? runsIn(path) : [path]))
  if (files.length > 0) return Promise.all(files.map((file) => savedSummary(tools, file)))
  throw new Failure(
    EXIT.failed,
    `no run is below ${folders.join(' or ')}; measure with gw bench run apinizer --tier W1, or name a run with --from`,
  )
}

/** What is not there, or no folder, is a run by what it is called. */
function isFolderOfRuns(path: string): boolean {
  if (namesIn(path).includes(SUMMARY_FILE)) return false
  return path === RESULTS_DIR || statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function runsIn(folder: string): string[] {
  return namesIn(folder)
    .map((name) => join(folder, name, SUMMARY_FILE))
    .filter((file) => existsSync(file))
    .sort()
}

function summaryFile(path: string): string {
  try {
    return statSync(path).isDirectory() ? join(path, SUMMARY_FILE) : path
  } catch (error) {
    throw unreadable('the run', path, error)
  }
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir)
  } catch {
    return []
  }
}
