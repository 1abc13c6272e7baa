import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type GwProcess, gw, type Outcome, scratch, spawnGw } from '../../testing.js'
import type { Mode } from './recording-tools.js'
import { samplePoint, sampleSummary } from './sample-summary.js'

const RECORDING_GW = fileURLToPath(new URL('recording-gw.js', import.meta.url))

/** What a command left behind, with all that the tools were told so far. */
export interface Recorded extends Outcome {
  readonly calls: readonly Record<string, unknown>[]
}

/** A folder of its own to run in, and the environment of tools that remember what they are told. */
export class Desk {
  readonly dir: string
  readonly #file: string
  readonly #stepSummary: string

  /** `stepSummary` is the file that a CI job would show; empty: there is no job. */
  constructor(t: TestContext, stepSummary = '') {
    this.#stepSummary = stepSummary
    this.dir = scratch(t)
    this.#file = join(this.dir, 'calls.jsonl')
    writeFileSync(this.#file, '')
  }

  async run(args: readonly string[], mode: Mode = 'well'): Promise<Recorded> {
    const outcome = await gw(['bench', ...args], this.#options(mode))
    return { ...outcome, calls: this.calls() }
  }

  start(t: TestContext, args: readonly string[], mode: Mode): GwProcess {
    return spawnGw(t, ['bench', ...args], this.#options(mode))
  }

  calls(): Record<string, unknown>[] {
    const lines = readFileSync(this.#file, 'utf8').split('\n').filter(Boolean)
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  }

  /** A run on disk; `changed` is its age in seconds since 1970. */
  save(name: string, changed: number, run = sampleSummary([samplePoint()], { id: name })): string {
    const dir = join(this.dir, 'results', name)
    mkdirSync(dir, { recursive: true })
    const file = join(dir, 'summary.json')
    writeFileSync(file, JSON.stringify(run))
    utimesSync(file, changed, changed)
    return file
  }

  #options(mode: Mode) {
    const env = {
      RECORDING_MODE: mode,
      RECORDING_FILE: this.#file,
      // Tests may run in such a job themselves.
      GITHUB_STEP_SUMMARY: this.#stepSummary,
    }
    return { env, cwd: this.dir, entry: RECORDING_GW }
  }
}
