import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { messageOf, reasonOf } from './system-error.js'

function folder(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'system-error-'))
  t.after(() => rmSync(dir, { recursive: true }))
  return dir
}

test('errors of files name the file and the reason, without codes', (t) => {
  const dir = folder(t)
  const file = join(dir, 'file')
  writeFileSync(file, '')
  const cases: readonly (readonly [() => void, string])[] = [
    [() => readFileSync(`${dir}/none`), `cannot open ${dir}/none: there is no such file`],
    [() => readFileSync(dir), 'cannot read: it is a directory'],
    [() => readFileSync(`${file}/a`), `cannot open ${file}/a: a part of its path is not a directory`],
    [() => readdirSync(`${dir}/none`), `cannot read ${dir}/none: there is no such file`],
    [() => mkdirSync(dir), `cannot create ${dir}: file already exists`],
  ]
  for (const [call, text] of cases)
    try {
      call()
      assert.fail('no error')
    } catch (error) {
      assert.equal(messageOf(error), text)
    }
})

test('errors of connections name the address, also if a client copied only the message', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  t.after(() => server.close())
  const [taken] = (await once(createServer().listen(port, '127.0.0.1'), 'error')) as [Error]
  assert.equal(messageOf(taken), `cannot listen on 127.0.0.1:${port}: address in use`)
  const refused = await new Promise((resolve) => connect(1, '127.0.0.1').once('error', resolve))
  assert.equal(messageOf(refused), 'cannot connect to 127.0.0.1:1: connection refused')
  assert.equal(messageOf(new Error((refused as Error).message)), messageOf(refused))
  assert.equal(reasonOf(new AggregateError([refused])), 'connection refused')
  assert.equal(messageOf(new Error('write EPIPE')), 'cannot write: broken pipe')
})

test('other values keep their message', () => {
  assert.equal(messageOf(new Error('no route')), 'no route')
  assert.equal(reasonOf(new AggregateError([], 'nothing')), 'nothing')
  assert.equal(messageOf('text'), 'text')
})
