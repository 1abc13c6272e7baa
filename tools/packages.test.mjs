import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

test('the packages hold what gw needs outside the repository, and no tests', () => {
  const args = ['pack', '--workspaces', '--dry-run', '--json', '--ignore-scripts']
  const { status, stdout, stderr } = spawnSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  assert.equal(status, 0, stderr)
  const answer = JSON.parse(stdout)
  const packages = Array.isArray(answer) ? answer : Object.values(answer)
  const files = Object.fromEntries(
    packages.map(({ name, files: list }) => [name, list.map(({ path }) => path)]),
  )
  for (const [name, file] of [
    ['@sluice/cli', 'bin/gw.mjs'],
    ['@sluice/cli', 'bin/node-version.mjs'],
    ['@sluice/cli', 'dist/bundle/main.js'],
    ['@sluice/bench', 'dist/commands.js'],
    ['@sluice/bench', 'reference/apinizer.json'],
    ['@sluice/gateway', 'dist/bundle/worker.main.js'],
    ['@sluice/policies', 'src/auth/jwt/example.yaml'],
    ['@sluice/policies-xml', 'src/transform/xslt/example.yaml'],
    ['@sluice/policies-xml', 'dist/bundle/engines.xslt.saxon.engine-main.js'],
    ['@sluice/logger', 'dist/bundle/outputs.custom.load-thread.js'],
    ['@sluice/config', 'dist/index.d.ts'],
    ['@sluice/ui', 'dist/web/index.html'],
    ['@sluice/ui', 'dist/web/control.html'],
    ['@sluice/ui', 'dist/bundle/index.js'],
  ]) {
    assert.ok(files[name]?.includes(file), `${name} has no ${file}`)
  }
  const tests = Object.values(files)
    .flat()
    .filter((file) => /\.test\./.test(file))
  assert.deepEqual(tests, [])
})
