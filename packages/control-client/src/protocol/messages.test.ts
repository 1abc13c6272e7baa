import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bundleOf } from '../manifest/manifest.js'
import { parseControllerMessage, parseMemberMessage } from './messages.js'

const { manifest } = bundleOf(new Map([['gateway.yaml', Buffer.from('version: 1')]]))
const PREPARE = { type: 'prepare', deploy: 3, manifest, holdMs: 30_000, note: '', actor: 'ann' }

test('messages are accepted only in their exact form', () => {
  assert.deepEqual(parseControllerMessage(JSON.stringify(PREPARE)), PREPARE)
  const vote = { type: 'vote', deploy: 3, vote: 'refused', reasons: ['no'] }
  assert.deepEqual(parseMemberMessage(JSON.stringify(vote)), vote)
  const file = manifest.files[0]!
  const invalid: unknown[] = [
    { ...PREPARE, extra: 1 },
    { ...PREPARE, deploy: 0 },
    { ...PREPARE, holdMs: 1 },
    { ...PREPARE, manifest: { ...manifest, files: [{ ...file, path: '../x' }] } },
    { ...PREPARE, manifest: { ...manifest, files: [{ ...file, chunks: ['x'] }] } },
    { ...PREPARE, type: 'vote' },
    null,
    [],
    'prepare',
  ]
  for (const value of invalid) assert.equal(parseControllerMessage(JSON.stringify(value)), null)
  assert.equal(parseControllerMessage('{'), null)
  assert.equal(parseMemberMessage(JSON.stringify(PREPARE)), null)
  assert.equal(parseMemberMessage(JSON.stringify({ ...vote, reasons: Array(21).fill('x') })), null)
})
