import assert from 'node:assert/strict'
import { test } from 'node:test'
import { documentWith, TestController, until } from '../testing/test-controller.js'

test('a deploy reaches the members of its group and no other', async (t) => {
  const controller = await TestController.start(t)
  const [one, two, other] = await Promise.all([
    controller.member({ name: 'one' }),
    controller.member({ name: 'two' }),
    controller.member({ name: 'other', group: 'core' }),
  ])
  const { status, body } = await controller.deploy('edge', documentWith('/a'), { options: { note: 'first' } })
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.result, 'committed')
  assert.deepEqual(
    body.members.map((member: { outcome: string }) => member.outcome),
    ['active', 'active'],
  )
  assert.deepEqual([one.digest, two.digest, other.digest], [body.digest, body.digest, null])
  assert.deepEqual(
    other.received.map(({ type }) => type),
    ['welcome'],
  )
  const { body: fleet } = await controller.call('GET', '/v1/members?group=edge')
  for (const member of fleet.members) assert.equal(member.status, 'inSync')
  const group = await controller.call('GET', '/v1/groups/edge')
  assert.equal(group.headers.get('etag'), `"${body.digest}"`)
  assert.equal(group.body.head.note, 'first')
})

test('a refusal aborts a deploy, and the problem names the member and its reason', async (t) => {
  const controller = await TestController.start(t)
  const good = await controller.member({ name: 'good' })
  const bad = await controller.member({ name: 'bad' })
  bad.behaviour = 'refuse'
  const { status, body } = await controller.deploy('edge', documentWith('/a'))
  assert.deepEqual([status, body.code], [409, 'GW_CONTROL_ABORTED'])
  assert.match(body.detail, /bad refused: it does not want to/)
  await until(() => good.received.some(({ type }) => type === 'discard'))
  assert.equal(good.digest, null)
})
