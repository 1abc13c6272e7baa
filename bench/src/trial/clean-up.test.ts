import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cleanUp } from './clean-up.js'

test('a step of a clean-up that fails is told, and those behind it are done', async () => {
  const done: string[] = []
  const warnings: string[] = []
  const steps = [
    { what: 'the stage was not closed', do: () => Promise.reject(new Error('it hangs')) },
    {
      what: 'never told',
      do: async () => {
        done.push('second')
      },
    },
  ]
  await cleanUp(steps, (warning) => warnings.push(warning))
  assert.deepEqual([done, warnings], [['second'], ['the stage was not closed: it hangs']])
})
