import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readUiFiles } from './index.js'

test('the page weighs less than 200 KB, uncompressed', () => {
  const bytes = readUiFiles().reduce((sum, { body }) => sum + Buffer.byteLength(body), 0)
  assert.ok(bytes < 200_000, String(bytes))
})
