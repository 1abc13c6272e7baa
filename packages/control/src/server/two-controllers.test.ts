import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { PostgresServer, postgresSkip } from '../store/testing/postgres-server.js'
import { documentWith, TestController, testFolder, until } from '../testing/test-controller.js'

test('two controllers with one database deploy to each other’s members, and survive its death', {
  skip: postgresSkip,
}, async (t) => {
  const server = await PostgresServer.start(t)
  const options = { store: await server.database(), adminTokenFile: join(testFolder(t), 'admin-token') }
  const a = await TestController.start(t, options)
  const b = await TestController.start(t, options)
  const token = await a.token('member')
  // The token reaches the other controller with the next entries of the log.
  await until(async () => (await b.call('GET', '/v1/tokens')).body.tokens.length === 2)
  const [one, two] = [await a.member({ name: 'one', token }), await b.member({ name: 'two', token })]
  await until(async () => (await a.call('GET', '/v1/groups/edge')).body.connected === 2)

  const first = await a.deploy('edge', documentWith('/a'))
  assert.deepEqual(
    first.body.members?.map(({ outcome }) => outcome),
    ['active', 'active'],
  )
  assert.deepEqual([one.digest, two.digest], [first.body.digest, first.body.digest])
  two.refusal = 'no'
  const refused = await a.deploy('edge', documentWith('/b'))
  assert.match(refused.body.detail, /two refused/)
  two.refusal = null

  await server.kill()
  const lost = await a.deploy('edge', documentWith('/c'))
  assert.deepEqual([lost.status, lost.body.code], [503, 'GW_CONTROL_STORE_UNAVAILABLE'])
  assert.equal((await a.call('GET', '/readyz')).status, 503)
  assert.deepEqual([one.digest, two.digest], [first.body.digest, first.body.digest])
  await server.run()
  await until(async () => (await b.call('GET', '/readyz')).status === 200)

  await a.close()
  const left = await b.deploy('edge', documentWith('/d'), { options: { quorumPercent: 50 } })
  assert.equal(left.body.result, 'committed', JSON.stringify(left.body))
  assert.equal(two.digest, left.body.digest)
  const returned = await b.member({ name: 'one', token, folder: one.folder })
  await until(() => returned.digest === left.body.digest)
})
