import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readDocumentFile } from './document-file.js'
import { readTextFile } from './text-file.js'

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'sluice-config-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

test('a document file gives its text and its name', (t) => {
  const path = join(folder(t), 'gateway.yaml')
  writeFileSync(path, '\ufeffversion: 1\n')
  assert.deepEqual(readDocumentFile(path), { text: 'version: 1\n', name: path })
})

test('a document file that cannot be read is named with the reason', (t) => {
  const path = join(folder(t), 'absent.yaml')
  assert.throws(() => readDocumentFile(path), {
    message: `cannot read the document '${path}': there is no such file`,
  })
  assert.throws(() => readDocumentFile(tmpdir()), /it is not a regular file/)
})

test('a file that is too large or no text is refused', (t) => {
  const path = join(folder(t), 'file')
  writeFileSync(path, 'x'.repeat(11))
  assert.throws(() => readTextFile(path, 10), /larger than 10 bytes/)
  assert.equal(readTextFile(path, 11), 'x'.repeat(11))
  writeFileSync(path, Buffer.from([0x61, 0xff]))
  assert.throws(() => readTextFile(path, 10), /not UTF-8 text/)
})

test('a file that is longer than it says is read whole, up to the limit', {
  skip: process.platform !== 'linux' && 'it has no /proc',
}, () => {
  const path = '/proc/kallsyms'
  assert.throws(() => readTextFile(path, 10_000), /larger than 10000 bytes/)
  const text = readTextFile(path, 64 * 1024 ** 2)
  assert.ok(text.length > 100_000 && text.endsWith('\n'), `${text.length}`)
})
