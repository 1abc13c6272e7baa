import { test } from 'node:test'
import { callWaitsForPromises } from './testing/promise-cases.js'

test('QuickJS: a call waits for promises that nobody awaits, and fails by their rejection', (t) =>
  callWaitsForPromises(t, 'quickjs'))
