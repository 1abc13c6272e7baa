import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ElasticsearchNode } from '@sluice/logger/testing/elasticsearch'
import { Aside } from './aside.js'
import type { PathAccount } from './steady-load.js'

const NOTHING: PathAccount = { answered: 0, unanswered: 0, cutOff: 0 }

test('documents of the requests before and after are held against those that were answered, and no others', async () => {
  const paths = new Map<string, PathAccount>()
  const load = { paths, askFor: (path: string) => paths.set(path, { ...NOTHING, answered: 100 }).get(path)! }
  const aside = new Aside(load)
  aside.begin()
  aside.end()
  const asked: unknown[] = []
  const node = {
    request: async (_method: string, _path: string, body: unknown) => {
      asked.push(body)
      return { status: 200, body: { count: 197 } }
    },
  } as unknown as ElasticsearchNode
  assert.deepEqual(await aside.losses({ node, stream: 'logs' }), { unanswered: 0, cutOff: 0, missing: 3 })
  assert.match(JSON.stringify(asked), /"url\.path":\["\/before","\/after"\]/)
  paths.set('/after', { answered: 100, unanswered: 2, cutOff: 1 })
  assert.deepEqual(await aside.losses({ node: null, stream: '' }), { unanswered: 2, cutOff: 1, missing: 0 })
})
