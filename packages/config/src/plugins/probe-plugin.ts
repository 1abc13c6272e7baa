import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { TSchema } from '@sinclair/typebox'
import { Ajv } from 'ajv'
import { addKeywords } from '../check/keywords.js'
import type { PluginPlan, PluginPolicyPlan } from '../plan/plan-plugin.js'
import { type LocatedPlugin, PluginProblem } from './locate-plugin.js'

/** Limits for loading a plugin. */
export interface ProbeBounds {
  /** Time limit in milliseconds, from the start of the import. */
  readonly deadlineMs: number
  /** Maximum heap size of the thread in MB. */
  readonly memoryMb: number
}

const BOUNDS: ProbeBounds = { deadlineMs: 10_000, memoryMb: 256 }
const REMEDY = 'fix the plugin, or remove it from the document'

type Report = { readonly policies: readonly PluginPolicyPlan[] } | { readonly problem: string }
type Message = Report | { readonly begins: true }

/**
 * Imports a plugin on a separate thread that is then terminated. The plugin cannot crash this process, and
 * the next call sees its current files.
 * @throws PluginProblem if it fails to load, does not export policies or takes too long
 */
export async function probePlugin(located: LocatedPlugin, bounds = BOUNDS): Promise<PluginPlan> {
  const report = await reportOf(located, bounds)
  if ('problem' in report) throw new PluginProblem(`it cannot be loaded: ${report.problem}`, REMEDY)
  const seen = new Set<string>()
  for (const { name, schema } of report.policies) {
    if (seen.has(name)) throw new PluginProblem(`it has two policies named '${name}'`, REMEDY)
    seen.add(name)
    const problem = schemaProblem(schema)
    if (problem !== null)
      throw new PluginProblem(`the schema of its policy '${name}' is invalid: ${problem}`, REMEDY)
  }
  return { ...located, policies: report.policies }
}

function reportOf({ entry }: LocatedPlugin, { deadlineMs, memoryMb }: ProbeBounds): Promise<Report> {
  const thread = new Worker(new URL('./probe-thread.js', import.meta.url), {
    workerData: pathToFileURL(entry).href,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    // Its output would mix with the output of the command.
    stdout: true,
    stderr: true,
  })
  return new Promise<Report>((resolve) => {
    let timer: NodeJS.Timeout | undefined
    thread.on('message', (message: Message) => {
      if (!('begins' in message)) return resolve(message)
      timer ??= setTimeout(() => {
        resolve({ problem: `the import takes longer than ${deadlineMs / 1000} s` })
      }, deadlineMs)
    })
    thread.once('error', (error: NodeJS.ErrnoException) => {
      const isTooLarge = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      resolve({ problem: isTooLarge ? `the import takes more than ${memoryMb} MB of memory` : error.message })
    })
    thread.once('exit', () => {
      clearTimeout(timer)
      resolve({ problem: 'it ended the process that imported it' })
    })
  }).finally(() => void thread.terminate())
}

/** Keywords that only the gateway uses, not a validator. */
const ANNOTATIONS = [
  ...['secret', 'path', 'destination', 'expects', 'remedy', 'keepsReference'],
  ...['deprecatedKeys', 'deprecatedValues', 'shorthand'],
]

/** Returns the problem with a schema of policy parameters as one line, or null. */
function schemaProblem(schema: TSchema): string | null {
  try {
    const ajv = new Ajv({ strict: true, strictTypes: false, strictTuples: false, logger: false, formats: {} })
    addKeywords(ajv)
    ajv.addVocabulary(ANNOTATIONS)
    ajv.compile(schema)
    return null
  } catch (error) {
    return (error as Error).message.split('\n')[0]!.slice(0, 300)
  }
}
