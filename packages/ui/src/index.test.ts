import assert from 'node:assert/strict'
import { test } from 'node:test'
import { uiServer } from './index.js'

test('each page weighs less than 200 KB, uncompressed, and loads files that exist', () => {
  for (const page of ['index', 'control'] as const) {
    const serve = uiServer(page)
    const { body } = serve('/ui/', '')!
    const names = [...body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, name]) => name!)
    for (const name of names) {
      const file = serve(`/ui/${name}`, '')!
      assert.equal(file.status, 200, name)
      const imported = [...file.body.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)].map(([, chunk]) => chunk!)
      names.push(...imported.filter((chunk) => !names.includes(chunk)))
    }
    const bytes = names.reduce((sum, name) => sum + serve(`/ui/${name}`, '')!.body.length, body.length)
    assert.ok(bytes < 200_000, `${page}: ${bytes}`)
  }
})
