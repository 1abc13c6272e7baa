import type { OffloadedWork } from '@sluice/core'
import { type CallInputs, type CallResult, openRunner } from './runner.js'
import type { ScriptSettings } from './settings.js'

/** Runs calls with large bodies on a thread, in its own sandbox. */
export const work: OffloadedWork<ScriptSettings, CallInputs, CallResult> = async (settings) => {
  const runner = await openRunner(settings)
  return (inputs) => runner.call(inputs)
}
