import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { nativeBuild, nativeFile, verifyNativeFile } from './native-file.js'

test('the native file of this machine has the expected hash', () => {
  verifyNativeFile(nativeBuild(), nativeFile(nativeBuild()))
})

test('a changed native file is refused before it is loaded', (t) => {
  const content = readFileSync(nativeFile(nativeBuild()))
  content[content.length >> 1]! ^= 1
  const folder = mkdtempSync(join(tmpdir(), 'sluice-native-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'changed.node')
  writeFileSync(file, content)
  assert.throws(() => verifyNativeFile(nativeBuild(), file), /has an unexpected SHA-256/)
})

test('a machine without a native file gets an error that lists the supported ones', () => {
  assert.throws(() => verifyNativeFile('sunos_sparc_115', ''), /use Node.js 20 or 22/)
})
