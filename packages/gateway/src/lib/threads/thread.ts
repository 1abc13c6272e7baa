import type { OffloadedWork } from '@sluice/core'
import { type ThreadAnswer, type ThreadTask, UNKNOWN_WORK } from './thread-task.js'

type Work = Awaited<ReturnType<OffloadedWork<unknown, unknown, unknown>>>

/** Maximum number of cached kinds of work per thread. The oldest is dropped, usually from an earlier deployment. */
const MAX_WORKS = 64

const works = new Map<string, Work>()
const NEEDS_CONFIG: ThreadAnswer = { isKnown: false, output: null }

/** Runs a task on this thread. */
export async function run({ module, key, config, input }: ThreadTask): Promise<ThreadAnswer> {
  let work = works.get(key)
  if (work === undefined) {
    if (config === UNKNOWN_WORK) return NEEDS_CONFIG
    const made = (await import(module)) as { work: OffloadedWork<unknown, unknown, unknown> }
    work = await made.work(config)
    if (works.size >= MAX_WORKS) works.delete(works.keys().next().value!)
    works.set(key, work)
  }
  return { isKnown: true, output: await work(input) }
}
