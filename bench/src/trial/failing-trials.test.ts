import assert from 'node:assert/strict'
import { test } from 'node:test'
import { suiteRunner } from '../measure/run-suite.js'
import { mergedSpectrum, smallLoad } from '../measure/testing/small-load.js'
import { Notes, optionsOf } from '../measure/testing/small-suite.js'
import type { Suite } from '../model/scenario.js'
import { chaos } from '../suite/chaos.js'

const TARGET_CHANGE = chaos.trials!.find(({ id }) => id === 'target-change')!

test('a trial that cannot be carried out has failed with the reason, and the next one is run', async () => {
  const plan = { ...TARGET_CHANGE, log: 'none', connections: 16 } as const
  const suite: Suite = { ...chaos, trials: [{ ...plan, id: 'unheard-of' }, plan] }
  const runner = suiteRunner(() => smallLoad(), mergedSpectrum)
  const order = { warmUpSeconds: 0.5, seconds: 3, rateShares: [0.1], isPinned: false }
  const { trials, warnings } = await runner(optionsOf(suite, order), new Notes())
  assert.deepEqual(
    trials!.map(({ id, failures }) => [id, failures]),
    [
      ['unheard-of', ["it could not be carried out: nobody knows what is done in the trial 'unheard-of'"]],
      ['target-change', []],
    ],
    warnings.join(),
  )
})
