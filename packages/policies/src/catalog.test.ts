import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { test } from 'node:test'
import { lazyCatalog } from './catalog.js'
import { catalog } from './full-catalog.js'
import { POLICY_GROUPS } from './reference.js'

test('a lazy catalog has the policies that were asked for, each under its name', async () => {
  const lazy = lazyCatalog()
  assert.deepEqual([...lazy.keys()], [])
  await lazy.load?.((name) => name === 'jwt' || name === 'none')
  const jwt = lazy.get('jwt')
  await lazy.load?.((name) => name.startsWith('j'))
  assert.deepEqual([...lazy.keys()], ['jwt', 'json-schema', 'jwe', 'jws'])
  assert.equal(lazy.get('jwt'), jwt)
})

test('the full catalog has a policy for each folder', () => {
  const folders = POLICY_GROUPS.flatMap((group) =>
    ['.', '../../policies-xml/dist']
      .map((owner) => new URL(`${owner}/${group}`, import.meta.url))
      .filter((folder) => existsSync(folder))
      .flatMap((folder) => readdirSync(folder)),
  )
  assert.deepEqual([...catalog.keys()].sort(), folders.sort())
})
