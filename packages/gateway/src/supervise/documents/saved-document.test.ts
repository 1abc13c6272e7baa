import assert from 'node:assert/strict'
import {
  chmodSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fakeDocument, GatewayProcess, testDirectory } from '../testing/gateway-process.js'
import { saveDocument } from './saved-document.js'

interface Answer {
  readonly result: string
  readonly isSaved: boolean
  readonly notSaved?: string
}

const started = (t: TestContext, dir: string, document?: string) =>
  new GatewayProcess(t, { dir, workers: 1, ...(document === undefined ? {} : { document }) }).started()

async function end(gateway: GatewayProcess): Promise<void> {
  gateway.signal('SIGTERM')
  await gateway.exited
}

test('an unsaved deploy is reported by the status, and by the start that replaces it', async (t) => {
  const dir = testDirectory()
  const first = await started(t, dir, fakeDocument('file'))
  assert.deepEqual((await first.status()).warnings, [])
  await first.put(fakeDocument('deployed'), '?note=why')
  const [warning = ''] = (await first.status()).warnings
  assert.match(warning, /^the deploy of \S+Z by \S+ \("why"\) is active but not saved/)
  await end(first)

  const second = await started(t, dir)
  const [replaced] = second.log('start.deploy-replaced')
  assert.deepEqual([replaced?.['deploy'], replaced?.['note']], ['2', 'why'])
  assert.match(
    String((await second.status()).warnings),
    /the file .* replaced the deploy of .*"why".*gw rollback --to 2/,
  )
  await end(second)
  // The file is activated for the second time: nothing is replaced.
  const third = await started(t, dir)
  assert.deepEqual([third.log('start.deploy-replaced'), (await third.status()).warnings], [[], []])
})

test("a saved deploy is written to the gateway's file, which keeps its mode and its link", async (t) => {
  const dir = testDirectory()
  const first = await started(t, dir, fakeDocument('file'))
  const real = join(dir, 'real.yaml')
  renameSync(first.configFile, real)
  symlinkSync(real, first.configFile)
  chmodSync(real, 0o640)
  const dry = await first.put(fakeDocument('deployed'), '?save=1&dryRun=1')
  assert.deepEqual([dry.status, readFileSync(real, 'utf8')], [200, fakeDocument('file')])
  const answer = (await (await first.put(fakeDocument('deployed'), '?save=1')).json()) as Answer
  assert.deepEqual([answer.result, answer.isSaved], ['applied', true])
  assert.equal(readFileSync(real, 'utf8'), fakeDocument('deployed'))
  assert.deepEqual([statSync(real).mode & 0o777, lstatSync(first.configFile).isSymbolicLink()], [0o640, true])
  const { origin, warnings } = await first.status()
  assert.deepEqual([origin, warnings], ['file', []])
  await end(first)
  assert.deepEqual((await started(t, dir)).log('start.deploy-replaced'), [])
})

test('a deploy does not overwrite an edit that the gateway has not read', () => {
  const file = join(testDirectory(), 'gateway.yaml')
  writeFileSync(file, 'edited')
  assert.throws(() => saveDocument(file, 'deployed', 'read'), /has changed since the gateway read it/)
  saveDocument(file, 'deployed', 'edited')
  assert.equal(readFileSync(file, 'utf8'), 'deployed')
})

test('a deploy that cannot be saved is still active, and the response gives the reason', async (t) => {
  const gateway = await started(t, testDirectory(), fakeDocument('file'))
  rmSync(gateway.configFile)
  const answer = (await (await gateway.put(fakeDocument('deployed'), '?save=1')).json()) as Answer
  assert.deepEqual([answer.result, answer.isSaved], ['applied', false])
  assert.match(answer.notSaved ?? '', /there is no such file/)
  assert.equal((await gateway.put(fakeDocument('deployed'), '?save=yes')).status, 400)
})
