import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { gw, scratch } from '../testing.js'

/** What Node.js does where the bench package is not installed. */
const HOOK = `export async function resolve(specifier, context, next) {
  if (!specifier.startsWith('@sluice/bench')) return next(specifier, context)
  const error = new Error("Cannot find package '@sluice/bench' imported from " + context.parentURL)
  throw Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' })
}`

function withoutBench(t: TestContext): { readonly env: { readonly NODE_OPTIONS: string } } {
  const file = join(scratch(t), 'register.mjs')
  const hook = `data:text/javascript,${encodeURIComponent(HOOK)}`
  writeFileSync(file, `import { register } from 'node:module'\nregister(${JSON.stringify(hook)})\n`)
  return { env: { NODE_OPTIONS: `--import ${pathToFileURL(file)}` } }
}

test('without the bench package, its commands print how to install it', async (t) => {
  const options = withoutBench(t)
  for (const words of [['bench'], ['bench', 'run', 'smoke', '--quick']]) {
    const { code, stdout, stderr } = await gw(words, options)
    assert.match(stderr, /^gw bench needs the package @sluice.bench, .*`npm install @sluice\/bench`.*\n$/)
    assert.deepEqual([code, stdout], [1, ''])
  }
  const help = await gw(['bench', '--help'], options)
  assert.equal(help.code, 0)
  assert.match(help.stdout, /npm install @sluice\/bench/)
})

test('with the bench package, its commands exist', async () => {
  const { code, stdout } = await gw(['bench', '--help'])
  assert.equal(code, 0)
  assert.match(stdout, /\n {2}run .*\n/)
})
