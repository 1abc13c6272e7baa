import { definePolicy, type Step } from '@sluice/core'
import { HOOKS } from '../../engines/script/engine.js'
import { openRunner } from './runner.js'
import { scriptSchema } from './schema.js'
import { type ScriptSettings, settingsOf } from './settings.js'
import { scriptStep } from './step.js'

/** The `script` policy. Runs the operator's JavaScript in a sandbox. */
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
    // A script without an explicit engine is isolated differently when isolated-vm is installed, so this is
    // reported.
    if (settings.engine === 'auto' && engine !== 'quickjs')
      env.report('script_engine', { script: settings.label, engine })
    return scriptStep(runner, settings, env)
  },
})

/** @throws Error for a script without hooks, or with a hook that never runs. */
function checkExports(exported: readonly string[], settings: ScriptSettings): void {
  const known: readonly string[] = HOOKS
  const { label, readsRequest, readsResponse } = settings
  if (!exported.some((name) => known.includes(name)))
    throw new Error(`${label} exports none of ${HOOKS.join(', ')}: add export function onRequest(ctx) {}`)
  const stray = exported.find((name) => !known.includes(name) && /^(on|default$)/.test(name))
  if (stray !== undefined)
    throw new Error(`${label} exports '${stray}', which is never called: the hooks are ${HOOKS.join(', ')}`)
  if (readsRequest && !exported.includes('onRequest'))
    throw new Error(`${label} reads the request body but exports no onRequest: add it or change 'body'`)
  if (readsResponse && !exported.includes('onResponse'))
    throw new Error(`${label} reads the response body but exports no onResponse: add it or change 'body'`)
}
