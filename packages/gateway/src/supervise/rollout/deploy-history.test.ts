import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { DeployHistory, MAX_DEPLOYS } from './deploy-history.js'
import { LastGoodFile } from './last-good.js'

function directory(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'deploys-'))
  t.after(() => rmSync(dir, { recursive: true }))
  return dir
}

const facts = (digest: string) =>
  ({ at: '2026-01-01T00:00:00.000Z', digest, origin: 'api', actor: 'ops', note: '' }) as const

test('deploys are listed newest first, also after a restart', (t) => {
  const dir = directory(t)
  const history = new DeployHistory(dir)
  history.record(facts('a'), { name: 'f', text: 'A' })
  history.record(facts('b'), { name: 'f', text: 'B' })
  const ids = (list: DeployHistory) => list.list().map((deploy) => [deploy.id, deploy.digest])
  assert.deepEqual(ids(history), [
    ['2', 'b'],
    ['1', 'a'],
  ])
  assert.deepEqual(ids(new DeployHistory(dir)), ids(history))
  assert.equal('text' in history.list()[0]!, false)
})

test('the oldest deploys are deleted beyond the limit, and ids keep growing', (t) => {
  const dir = directory(t)
  const history = new DeployHistory(dir)
  for (let i = 0; i < MAX_DEPLOYS + 5; i++) history.record(facts(`d${i}`), { name: 'f', text: 'T' })
  assert.equal(readdirSync(join(dir, 'deploys')).length, MAX_DEPLOYS)
  assert.equal(history.list()[0]?.id, String(MAX_DEPLOYS + 5))
  assert.equal(history.find('1'), null)
})

test('without an id the newest deploy that differs from the active one is found', (t) => {
  const history = new DeployHistory(directory(t))
  history.record(facts('a'), { name: 'f', text: 'A' })
  history.record(facts('b'), { name: 'f', text: 'B' })
  assert.equal(history.rollbackTarget(null, 'b')?.text, 'A')
  assert.equal(history.rollbackTarget('2', 'b')?.text, 'B')
  assert.equal(history.rollbackTarget('../../etc/passwd', 'b'), null)
})

test('a second rollback goes further back, and not to the document that the first one replaced', (t) => {
  const dir = directory(t)
  const history = new DeployHistory(dir)
  const deploy = (digest: string, rollbackTo?: string) =>
    history.record(rollbackTo === undefined ? facts(digest) : { ...facts(digest), rollbackTo }, {
      name: 'f',
      text: digest,
    })
  const target = (id: string | null = null) => {
    const found = new DeployHistory(dir).rollbackTarget(id, history.list()[0]!.digest)
    return found === null ? null : [found.id, found.wasRolledBack]
  }
  for (const digest of ['a', 'b', 'c']) deploy(digest)
  assert.deepEqual(target(), ['2', false])
  deploy('b', '2')
  assert.deepEqual(target(), ['1', false])
  assert.deepEqual(target('3'), ['3', true])
  deploy('a', '1')
  assert.equal(target(), null)
  // A deploy, or a rollback that names it, makes a document good again.
  deploy('b')
  assert.deepEqual(target(), ['5', false])
  deploy('c', '3')
  assert.deepEqual(target('3'), ['3', false])
})

test('stored deploys are readable only by the owner, and broken files are ignored', (t) => {
  const dir = directory(t)
  const history = new DeployHistory(dir)
  history.record(facts('a'), { name: 'f', text: 'A' })
  const file = join(dir, 'deploys', '00000001.json')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  writeFileSync(join(dir, 'deploys', '00000002.json'), '{"id":')
  assert.equal(new DeployHistory(dir).list().length, 1)
})

test('the last good document is read back, and a broken file is ignored', (t) => {
  const dir = directory(t)
  const file = new LastGoodFile(dir)
  assert.equal(file.read(), null)
  file.save({ digest: 'a', name: 'gateway.yaml', text: 'version: 1' })
  assert.deepEqual(new LastGoodFile(dir).read(), { digest: 'a', name: 'gateway.yaml', text: 'version: 1' })
  assert.equal(statSync(file.path).mode & 0o777, 0o600)
  writeFileSync(file.path, '[]')
  assert.equal(file.read(), null)
})

test('the last good document is not used with another document', (t) => {
  const dir = directory(t)
  const [first, again, other] = ['a.yaml', 'a.yaml', 'b.yaml'].map((document) => {
    const file = new LastGoodFile(dir)
    file.startedWith = document
    return file
  })
  first!.save({ digest: 'a', name: 'deployed.yaml', text: 'version: 1' })
  assert.equal(again!.read()?.digest, 'a')
  assert.equal(other!.read(), null)
})
