import { test } from 'node:test'
import { callWaitsForPromises } from './testing/promise-cases.js'

test('QuickJS: a call waits for unawaited promises and fails if they reject', (t) =>
  callWaitsForPromises(t, 'quickjs'))
