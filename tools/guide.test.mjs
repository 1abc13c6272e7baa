import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const PAGES = ['docs/guides/getting-started.md', 'docs/guides/installation.md', 'README.md']
/** What commands write where they run, and what the gateway, its logs and the benchmarks do. */
const WRITTEN = [
  'data/traffic/1.ndjson',
  'data/try/gateway.yaml',
  'data/packages/a.tgz',
  'results/a/summary.json',
]

test('what the pages ask people to make in a clone is left alone by git, private keys first', () => {
  const files = PAGES.flatMap((page) => filesMadeIn(readFileSync(join(root, page), 'utf8')))
  assert.ok(files.includes('key.pem') && files.includes('root.scrypt'), files.join(' '))
  for (const file of [...files, ...WRITTEN]) {
    const { status } = spawnSync('git', ['check-ignore', '--quiet', '--no-index', file], { cwd: root })
    assert.equal(status, 0, `${file} would be staged by git add -A`)
  }
})

/** The targets of `>`, and of options that name an output. */
function filesMadeIn(page) {
  const targets = page.matchAll(/(?:\s>|-keyout|-out|--out) +([\w.][\w./-]*\.\w+)/g)
  return [...new Set([...targets].map(([, file]) => file))]
}
