import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scratch } from '../testing.js'
import { peerProblem } from './installed-program.js'

test('a peer can be measured when a file on the PATH can be run, else its problem says what to do', (t) => {
  const dir = scratch(t)
  const before = process.env['PATH']
  t.after(() => {
    process.env['PATH'] = before
  })
  process.env['PATH'] = dir
  const file = join(dir, 'sample-peer')
  assert.match(
    peerProblem('sample-peer') ?? '',
    /^sample-peer is not on the PATH; install it .* leave it out of --with$/,
  )
  writeFileSync(file, '')
  chmodSync(file, 0o644)
  assert.notEqual(peerProblem('sample-peer'), null)
  chmodSync(file, 0o755)
  assert.equal(peerProblem('sample-peer'), null)
})
