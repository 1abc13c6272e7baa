import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { PluginPlan, PluginPolicyPlan } from '../plan-plugin.js'
import { type LocatedPlugin, PluginProblem } from './locate-plugin.js'
import { schemaFlaw } from './schema-flaw.js'

/** What looking at a plugin may take. */
export interface ProbeBounds {
  /** From when its thread begins to import it. */
  readonly deadlineMs: number
  /** Of the thread's heap. */
  readonly memoryMb: number
}

const BOUNDS: ProbeBounds = { deadlineMs: 10_000, memoryMb: 256 }
const REMEDY = 'correct the plugin, or remove it from the document'

type Report = { readonly policies: readonly PluginPolicyPlan[] } | { readonly problem: string }
type Message = Report | { readonly begins: true }

/**
 * Imports a plugin on a thread of its own, which ends with that: whatever its code does there, this process goes on, and
 * the next look sees the files as they are then.
 * @throws PluginProblem when it fails to load, exports something else than policies or takes too long.
 */
export async function probePlugin(located: LocatedPlugin, bounds = BOUNDS): Promise<PluginPlan> {
  const report = await reportOf(located, bounds)
  if ('problem' in report) throw new PluginProblem(`it cannot be loaded: ${report.problem}`, REMEDY)
  const seen = new Set<string>()
  for (const { name, schema } of report.policies) {
    if (seen.has(name)) throw new PluginProblem(`it has two policies named '${name}'`, REMEDY)
    seen.add(name)
    const flaw = schemaFlaw(schema)
    if (flaw !== null) throw new PluginProblem(`the schema of its policy '${name}' is wrong: ${flaw}`, REMEDY)
  }
  return { ...located, policies: report.policies }
}

function reportOf({ entry }: LocatedPlugin, { deadlineMs, memoryMb }: ProbeBounds): Promise<Report> {
  const thread = new Worker(new URL('./probe-thread.js', import.meta.url), {
    workerData: pathToFileURL(entry).href,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    // What it prints would stand between what a command prints.
    stdout: true,
    stderr: true,
  })
  return new Promise<Report>((resolve) => {
    let timer: NodeJS.Timeout | undefined
    thread.on('message', (message: Message) => {
      if (!('begins' in message)) return resolve(message)
      timer ??= setTimeout(() => {
        resolve({ problem: `importing it takes longer than ${deadlineMs / 1000} s` })
      }, deadlineMs)
    })
    thread.once('error', (error: NodeJS.ErrnoException) => {
      const isTooLarge = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      resolve({
        problem: isTooLarge ? `importing it takes more than ${memoryMb} MB of memory` : error.message,
      })
    })
    thread.once('exit', () => {
      clearTimeout(timer)
      resolve({ problem: 'it ended the process that imported it' })
    })
  }).finally(() => void thread.terminate())
}
