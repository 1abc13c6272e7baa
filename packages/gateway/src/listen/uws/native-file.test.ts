import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { nativeBuild, nativeFile, verifyNativeFile } from './native-file.js'

test('the native file of this machine has the expected hash', () => {
  verifyNativeFile(nativeBuild(), readFileSync(nativeFile(nativeBuild())))
})

test('a changed native file is refused before it is loaded', () => {
  const content = readFileSync(nativeFile(nativeBuild()))
  content[content.length >> 1]! ^= 1
  assert.throws(() => verifyNativeFile(nativeBuild(), content), /has an unexpected SHA-256/)
})

test('a machine without a native file gets an error that lists the supported ones', () => {
  assert.throws(() => verifyNativeFile('sunos_sparc_115', new Uint8Array()), /use Node.js 20 or 22/)
})
