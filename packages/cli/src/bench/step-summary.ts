import { appendFileSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../failure.js'
import { say } from '../output/output.js'

/** GitHub Actions refuses the whole summary of a step that is longer. */
const MOST_BYTES = 1024 * 1024

/**
 * Appends the report of a run to the summary of its CI job, where there is one: GitHub Actions names the file in
 * `GITHUB_STEP_SUMMARY`. The results are written by then, so that a summary that cannot be is told and fails nothing.
 */
export function addStepSummary(dir: string, file = process.env['GITHUB_STEP_SUMMARY'] ?? ''): void {
  if (file === '') return
  try {
    const report = readFileSync(join(dir, 'report.md'), 'utf8')
    const bytes = Buffer.byteLength(report)
    const before = statSync(file, { throwIfNoEntry: false })?.size ?? 0
    if (before + bytes > MOST_BYTES) {
      say(
        `the report is too long for the summary of the job, which takes 1 MB; keep ${dir} as an artifact of the job`,
      )
      return
    }
    appendFileSync(file, `${report}\n`)
  } catch (error) {
    say(`the report could not be added to the summary of the job: ${messageOf(error)}`)
  }
}
