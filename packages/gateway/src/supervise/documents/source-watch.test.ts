import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { until } from '../testing/until.js'
import { SourceWatch } from './source-watch.js'

function watched(t: TestContext, pollMs = 60_000) {
  const dir = mkdtempSync(join(tmpdir(), 'watch-'))
  const path = join(dir, 'gateway.yaml')
  writeFileSync(path, 'one')
  const texts: string[] = []
  const watch = new SourceWatch({
    path,
    pollMs,
    debounceMs: 10,
    onChange: (source) => texts.push(source.text),
  })
  watch.acknowledge('one')
  t.after(() => {
    watch.close()
    rmSync(dir, { recursive: true })
  })
  return { dir, path, texts }
}

test('a file that is written again is reported once, with its text', async (t) => {
  const { path, texts } = watched(t)
  writeFileSync(path, 'two')
  await until(() => texts.length > 0)
  assert.deepEqual(texts, ['two'])
})

test('a file that is replaced by a rename is reported', async (t) => {
  const { dir, path, texts } = watched(t)
  writeFileSync(join(dir, 'draft'), 'two')
  renameSync(join(dir, 'draft'), path)
  await until(() => texts.length > 0)
  assert.deepEqual(texts, ['two'])
})

test('a swapped ..data link, as Kubernetes makes it, is reported', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'watch-'))
  for (const [version, text] of [
    ['..v1', 'one'],
    ['..v2', 'two'],
  ] as const) {
    mkdirSync(join(dir, version))
    writeFileSync(join(dir, version, 'gateway.yaml'), text)
  }
  symlinkSync('..v1', join(dir, '..data'))
  symlinkSync('..data/gateway.yaml', join(dir, 'gateway.yaml'))
  const texts: string[] = []
  const watch = new SourceWatch({
    path: join(dir, 'gateway.yaml'),
    pollMs: 60_000,
    onChange: (source) => texts.push(source.text),
  })
  t.after(() => {
    watch.close()
    rmSync(dir, { recursive: true })
  })
  watch.acknowledge('one')
  symlinkSync('..v2', join(dir, '..data_tmp'))
  renameSync(join(dir, '..data_tmp'), join(dir, '..data'))
  await until(() => texts.length > 0)
  assert.deepEqual(texts, ['two'])
})

test('an event without a change of content is not reported, the change after it does', async (t) => {
  const { path, texts } = watched(t)
  utimesSync(path, new Date(), new Date())
  writeFileSync(path, 'one')
  writeFileSync(path, 'two')
  await until(() => texts.length > 0)
  assert.deepEqual(texts, ['two'])
})

test('the poll finds a change in a directory that was replaced as a whole', async (t) => {
  const { dir, path, texts } = watched(t, 20)
  renameSync(dir, `${dir}-old`)
  t.after(() => rmSync(`${dir}-old`, { recursive: true }))
  mkdirSync(dir)
  writeFileSync(path, 'two')
  await until(() => texts.length > 0)
  assert.deepEqual(texts, ['two'])
})

test('files that change beside the document all the time do not delay its change', async (t) => {
  const { dir, path, texts } = watched(t)
  let isOver = false
  const beside = (async () => {
    for (let i = 0; !isOver; i++) {
      writeFileSync(join(dir, 'log.txt'), String(i))
      await new Promise((resolve) => setImmediate(resolve))
    }
  })()
  writeFileSync(path, 'two')
  await until(() => texts.length > 0).finally(() => {
    isOver = true
  })
  await beside
  assert.deepEqual(texts, ['two'])
})
