import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { PluginPlan } from '@sluice/config'
import type { KitInput } from './kit-thread.js'

const DEADLINE_MS = 20_000

/** Result of one check. */
export interface Finding {
  readonly check: string
  /** Problems; empty if the check passed. */
  readonly flaws: readonly string[]
  /** Measured values. */
  readonly note?: string
}

type Report =
  | { readonly begins: string }
  | { readonly policy: string; readonly flaws: readonly string[] }
  | { readonly done: true }

/** Runs the contract tests of a plugin's policies on a thread, because they may hang or exit. */
export async function contractFindings(
  plugin: PluginPlan,
  uses: KitInput['uses'],
): Promise<readonly Finding[]> {
  const workerData: KitInput = { entry: pathToFileURL(plugin.entry).href, uses }
  const thread = new Worker(new URL('./kit-thread.js', import.meta.url), {
    workerData,
    stdout: true,
    stderr: true,
  })
  const findings: Finding[] = []
  let at = 'importing it'
  try {
    await new Promise<void>((resolve) => {
      const fail = (flaw: string): void => {
        findings.push({ check: `contract of ${at}`, flaws: [flaw] })
        resolve()
      }
      const timer = setTimeout(() => fail(`it takes longer than ${DEADLINE_MS / 1000} s`), DEADLINE_MS)
      thread.on('message', (report: Report) => {
        if ('begins' in report) at = report.begins
        else if ('done' in report) resolve()
        else findings.push({ check: `contract of ${report.policy}`, flaws: report.flaws })
      })
      thread.on('error', (error) => fail(error.message))
      thread.on('exit', () => clearTimeout(timer))
    })
  } finally {
    void thread.terminate()
  }
  return findings
}
