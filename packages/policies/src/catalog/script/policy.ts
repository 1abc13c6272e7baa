import { definePolicy, type Step } from '@sluice/core'
import { HOOKS } from './engine.js'
import { openRunner } from './runner.js'
import { scriptSchema } from './schema.js'
import { type ScriptSettings, settingsOf } from './settings.js'
import { scriptStep } from './step.js'

/** Runs JavaScript of the operator in a sandbox. */
export const script = definePolicy({
  name: 'script',
  summary: 'Runs JavaScript in a sandbox, on requests, responses and refusals.',
  schema: scriptSchema,
  cost: 'cpu',
  async compile(config, env): Promise<Step> {
    const settings = settingsOf(config)
    const runner = await openRunner(settings)
    env.onClose(() => runner.close())
    checkExports(runner.exported, settings)
    const { engine } = runner
    // Somebody has installed it, which changes what contains a script that does not name its engine.
    if (settings.engine === 'auto' && engine !== 'quickjs')
      env.report('script_engine', { script: settings.label, engine })
    return scriptStep(runner, settings, env)
  },
})

/** @throws Error for a script that does nothing, or has a hook that would never run. */
function checkExports(exported: readonly string[], settings: ScriptSettings): void {
  const known: readonly string[] = HOOKS
  const { label, readsRequest, readsResponse } = settings
  if (!exported.some((name) => known.includes(name)))
    throw new Error(
      `${label} exports no function ${HOOKS.join(', ')}; write export function onRequest(ctx) {}`,
    )
  const stray = exported.find((name) => !known.includes(name) && /^(on|default$)/.test(name))
  if (stray !== undefined)
    throw new Error(`${label} exports '${stray}', which nothing calls; the hooks are ${HOOKS.join(', ')}`)
  if (readsRequest && !exported.includes('onRequest'))
    throw new Error(`${label} has no onRequest, which alone reads the request body; change body`)
  if (readsResponse && !exported.includes('onResponse'))
    throw new Error(`${label} has no onResponse, which alone reads the response body; change body`)
}
